// How many messages of a queue are still delayed. Kept in steps of a tenth of a
// second, so that a million delayed messages cost no more than 9,000 counters; a
// message counts as delayed up to that much too long.
#pragma once

#include <cstdint>
#include <map>

#include "queue/limits.hpp"

namespace canopy::queue {

class DelayCounter {
 public:
  void add(Millis due, Millis now) {
    if (due > now) ++due_[step_of(due)];
  }

  // One that was added, whether or not its time has come.
  void remove(Millis due) {
    const auto found = due_.find(step_of(due));
    if (found != due_.end() && --found->second == 0) due_.erase(found);
  }

  void clear() { due_.clear(); }

  std::uint64_t count(Millis now) {
    due_.erase(due_.begin(), due_.upper_bound(now));
    std::uint64_t sum = 0;
    for (const auto& [due, messages] : due_) sum += messages;
    return sum;
  }

 private:
  static constexpr Millis step = 100;
  static Millis step_of(Millis due) { return (due + step - 1) / step * step; }

  std::map<Millis, std::uint64_t> due_;
};

}  // namespace canopy::queue
