#include "scribe/publisher_marks.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/mix.hpp"

namespace canopy::scribe {

namespace {

std::uint64_t publisher_hash(const wire::MessageId& id) noexcept {
  return mix64(id.publisher.high64() ^ mix64(id.incarnation));
}

}  // namespace

std::uint64_t PublisherMarks::latest_of(const wire::MessageId& id) const {
  const std::uint64_t publisher = publisher_hash(id);
  for (const Marks* marks : {&recent_, &older_}) {
    const auto found = marks->find(publisher);
    if (found != marks->end()) return found->second;
  }
  return 0;
}

void PublisherMarks::note(const wire::MessageId& id, std::size_t capacity) {
  CANOPY_ASSERT(capacity > 0);
  const std::uint64_t latest = std::max(latest_of(id), id.sequence);
  const std::uint64_t publisher = publisher_hash(id);
  if (recent_.size() >= capacity && !recent_.contains(publisher)) {
    older_ = std::exchange(recent_, {});
  }
  recent_[publisher] = latest;
}

}  // namespace canopy::scribe
