// Times as they travel: what is left of them, in milliseconds, so that no two
// clocks have to agree. Pure functions.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/time.hpp"

namespace canopy::scribe {

// At least 1, as 0 means that there is no such time.
inline std::uint32_t time_left(MonoTime until, MonoTime now) noexcept {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left.count(), 1, most));
}

// Of what was left, after so much more of it; 0 if nothing.
inline std::uint32_t left_after(std::uint32_t within_ms, Duration passed) noexcept {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(passed).count();
  return within_ms - static_cast<std::uint32_t>(std::clamp<std::int64_t>(ms, 0, within_ms));
}

}  // namespace canopy::scribe
