#include "store/memory_log.hpp"

#include <utility>

#include <fmt/format.h>

#include <canopy/error.hpp>

#include "store/damage.hpp"

namespace canopy::store {

MemoryLog::MemoryLog(LogEvents& events, Post post, std::uint64_t pending_bytes_max)
    : events_(events),
      post_(std::move(post)),
      self_(std::make_shared<MemoryLog*>(this)),
      pending_bytes_max_(pending_bytes_max) {}

boost::system::result<std::uint64_t> MemoryLog::submit(Buffer record) {
  std::uint64_t next = first_ + records_.size();
  bool is_first = next == last_ + 1;
  if (!is_first && pending_bytes_ + record.size() > pending_bytes_max_)
    return make_error_code(errc::queue_full);
  pending_bytes_ += record.size();
  records_.push_back(std::move(record));
  if (is_first)
    post_([weak = std::weak_ptr<MemoryLog*>(self_)] {
      if (std::shared_ptr<MemoryLog*> self = weak.lock()) (*self)->persist();
    });
  return next;
}

void MemoryLog::persist() {
  last_ = first_ + records_.size() - 1;
  pending_bytes_ = 0;
  events_.persisted(last_);
}

void MemoryLog::replay(std::uint64_t from,
                       const std::function<void(std::uint64_t, std::string_view)>& use) {
  if (from < first_)
    throw Damage("memory", fmt::format("the records from {} to {} are cut", from, first_ - 1));
  for (std::uint64_t index = from; index <= last_; ++index)
    use(index, records_[index - first_].view());
}

void MemoryLog::cut_before(std::uint64_t index) {
  while (first_ < index && first_ <= last_) {
    records_.pop_front();
    ++first_;
  }
}

}  // namespace canopy::store
