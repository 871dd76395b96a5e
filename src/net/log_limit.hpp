// Keeps strangers from filling the log: so many lines a second, then silence
// and a count. One thread.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "net/clock.hpp"

namespace canopy::net {

class LogLimit {
 public:
  // Whether one more line may be written now.
  bool allow() noexcept {
    const MonoTime now = mono_now();
    if (now - second_began_ >= std::chrono::seconds(1)) {
      second_began_ = now;
      lines_ = 0;
    }
    if (lines_ >= lines_per_second_max) {
      ++suppressed_;
      return false;
    }
    ++lines_;
    return true;
  }

  // Lines left out since the last call.
  std::uint64_t take_suppressed() noexcept {
    const std::uint64_t count = suppressed_;
    suppressed_ = 0;
    return count;
  }

 private:
  static constexpr int lines_per_second_max = 10;
  MonoTime second_began_{};
  int lines_ = 0;
  std::uint64_t suppressed_ = 0;
};

}  // namespace canopy::net
