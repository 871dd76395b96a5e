#include "scribe/publisher_marks.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/boot_mark.hpp"

namespace canopy::scribe {

std::uint64_t PublisherMarks::latest_of(const wire::MessageId& id) const {
  const std::uint64_t publisher = boot_mark(id.publisher, id.incarnation);
  for (const Marks* marks : {&recent_, &older_}) {
    const auto found = marks->find(publisher);
    if (found != marks->end()) return found->second;
  }
  return 0;
}

void PublisherMarks::note(const wire::MessageId& id, std::size_t capacity) {
  CANOPY_ASSERT(capacity > 0);
  const std::uint64_t latest = std::max(latest_of(id), id.sequence);
  const std::uint64_t publisher = boot_mark(id.publisher, id.incarnation);
  if (recent_.size() >= capacity && !recent_.contains(publisher)) {
    older_ = std::exchange(recent_, {});
  }
  recent_[publisher] = latest;
}

}  // namespace canopy::scribe
