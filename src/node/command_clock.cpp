#include "node/command_clock.hpp"

#include <algorithm>

namespace canopy::node {

namespace {
constexpr int slew_divisor = 20;
}  // namespace

CommandClock::CommandClock(WallTime not_before, MonoTime mono, WallTime wall)
    : mono_(mono), since_1970_(std::max(not_before, wall).time_since_epoch()) {}

WallTime CommandClock::at(MonoTime mono, WallTime wall) {
  const Duration passed = mono - mono_;
  const Duration ahead = Duration(wall.time_since_epoch()) - (since_1970_ + passed);
  const Duration slew = passed / slew_divisor;
  since_1970_ += passed + std::clamp(ahead, -slew, slew);
  mono_ = mono;
  return WallTime(std::chrono::floor<WallTime::duration>(since_1970_));
}

}  // namespace canopy::node
