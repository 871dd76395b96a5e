// The time of commands: it follows wall time, but never goes back and never jumps.
//
// It advances by the boot clock, up to 5 % faster or slower while wall time is
// ahead or behind: so what was to last a minute lasts a minute, however somebody
// sets the machine's clock. Plain values in, plain values out; one thread.
#pragma once

#include "base/time.hpp"

namespace canopy::node {

class CommandClock {
 public:
  // Starts at the wall time, or at `not_before` if that is later.
  CommandClock(WallTime not_before, MonoTime mono, WallTime wall);

  // Calls with a `mono` that never goes back.
  WallTime at(MonoTime mono, WallTime wall);

  // When at() will give this time if wall time goes along with it.
  MonoTime when(WallTime time) const { return mono_ + (time.time_since_epoch() - since_1970_); }

 private:
  MonoTime mono_;
  Duration since_1970_;
};

}  // namespace canopy::node
