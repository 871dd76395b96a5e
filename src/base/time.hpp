// Time types that cannot be mixed up.
//
// MonoTime counts microseconds of a clock that never goes back (the machine's
// boot clock in a daemon, virtual time in the simulator); WallTime counts
// milliseconds since 1970 and may jump. There is no conversion between them.
// Plain values, safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace canopy {

using Duration = std::chrono::microseconds;

struct MonoClock {
  using rep = std::int64_t;
  using period = std::micro;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonoClock>;
  static constexpr bool is_steady = true;
};

struct WallClock {
  using rep = std::int64_t;
  using period = std::milli;
  using duration = std::chrono::milliseconds;
  using time_point = std::chrono::time_point<WallClock>;
  static constexpr bool is_steady = false;
};

using MonoTime = MonoClock::time_point;
using WallTime = WallClock::time_point;

// Later than every deadline: "no timer".
inline constexpr MonoTime never = MonoTime::max();

}  // namespace canopy
