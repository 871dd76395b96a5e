// Seeded random numbers: xoshiro256** (Blackman and Vigna, 2018), seeded
// through splitmix64.
//
// The same seed gives the same sequence on every compiler and library, which
// the standard distributions do not promise. Not for secrets. One instance
// belongs to one thread.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.hpp"

namespace canopy {

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept;

  std::uint64_t next() noexcept;

  // Uniform in [0, bound), bound > 0, without modulo bias.
  std::uint64_t below(std::uint64_t bound) noexcept;

  // Uniform in [0, 1).
  double unit() noexcept;

  // True with this probability (0..1).
  bool chance(double probability) noexcept { return unit() < probability; }

  // Exponentially distributed with this mean (> 0).
  double exponential(double mean) noexcept;

  // Uniform in [span * (1 - share), span * (1 + share)].
  Duration jittered(Duration span, double share) noexcept;

  // A generator of its own for a part, so that drawing more in one part does
  // not shift the sequence of another.
  Random fork() noexcept { return Random(next()); }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace canopy
