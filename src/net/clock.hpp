// The daemon's clock for MonoTime: it goes on while the machine sleeps, so that
// a peer that wakes up knows how long it was away. Safe from any thread.
#pragma once

#include <ctime>

#include "base/time.hpp"

namespace canopy::net {

inline MonoTime mono_now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return MonoTime(std::chrono::seconds(time.tv_sec) +
                  std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(time.tv_nsec)));
}

}  // namespace canopy::net
