// A node's own clock, which may run fast or slow and jump ahead, as a function
// of virtual time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace canopy::sim {

class VirtualClock {
 public:
  MonoTime local(MonoTime global) const noexcept {
    const std::int64_t passed = (global - global_base_).count();
    return local_base_ + Duration(passed + scaled(passed, drift_ppm_));
  }

  // The first virtual time at which the clock shows at least `at`.
  MonoTime global(MonoTime at) const noexcept {
    if (drift_ppm_ == 0) return global_base_ + (at - local_base_);
    const std::int64_t ahead = (at - local_base_).count();
    MonoTime guess = global_base_ + Duration(ahead - scaled(ahead, drift_ppm_));
    while (local(guess) < at) guess += std::max(Duration(1), (at - local(guess)) / 2);
    return guess;
  }

  // From now on it gains this many microseconds a second (loses, if negative).
  void set_drift(MonoTime now, std::int32_t ppm) noexcept {
    rebase(now);
    drift_ppm_ = ppm;
  }

  void jump_ahead(MonoTime now, Duration by) noexcept {
    rebase(now);
    local_base_ += by;
  }

 private:
  static constexpr std::int64_t million = 1'000'000;

  // value * ppm / 10^6, without overflow.
  static std::int64_t scaled(std::int64_t value, std::int64_t ppm) noexcept {
    return value / million * ppm + value % million * ppm / million;
  }

  void rebase(MonoTime now) noexcept {
    local_base_ = local(now);
    global_base_ = now;
  }

  MonoTime global_base_{};
  MonoTime local_base_{};
  std::int32_t drift_ppm_ = 0;
};

}  // namespace canopy::sim
