#include "node/timer_queue.hpp"

#include "base/assert.hpp"

namespace canopy::node {

TimerQueue::Entry TimerQueue::at(MonoTime deadline, Call call) {
  CANOPY_ASSERT(deadline != never);
  Entry entry{deadline, ++last_};
  calls_.emplace(entry, std::move(call));
  arm();
  return entry;
}

void TimerQueue::cancel(const Entry& entry) {
  // The system timer stays as it is: expiring for nothing is cheaper than setting it twice.
  calls_.erase(entry);
}

void TimerQueue::expire() {
  armed_ = never;
  const MonoTime now = net::mono_now();
  const std::uint64_t last = last_;  // calls set from here on have to wait
  auto next = calls_.begin();
  while (next != calls_.end() && next->first.first <= now) {
    if (next->first.second > last) {
      ++next;
      continue;
    }
    Call call = std::move(next->second);
    calls_.erase(next);
    call();
    next = calls_.begin();  // the call may have changed anything
  }
  arm();
}

void TimerQueue::arm() {
  if (calls_.empty() || calls_.begin()->first.first >= armed_) return;
  armed_ = calls_.begin()->first.first;
  timer_.set(armed_);
}

}  // namespace canopy::node
