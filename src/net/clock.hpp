// The daemon's clocks. Safe from any thread.
#pragma once

#include <chrono>
#include <ctime>

#include "base/time.hpp"

namespace canopy::net {

// It goes on while the machine sleeps, so that a peer that wakes up knows how long
// it was away.
inline MonoTime mono_now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return MonoTime(std::chrono::seconds(time.tv_sec) +
                  std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(time.tv_nsec)));
}

inline WallTime wall_now() noexcept {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return WallTime(std::chrono::duration_cast<WallClock::duration>(since_1970));
}

}  // namespace canopy::net
