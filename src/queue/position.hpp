// Where a message lies in its queue. Positions of a lane are in the order in
// which messages become available; a lane is a message group of a standard queue
// (0: none), so that each group has an order of its own. Plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "queue/limits.hpp"

namespace canopy::queue {

struct Position {
  std::uint64_t lane = 0;
  Millis time = 0;  // available from; never negative
  std::uint64_t sequence = 0;

  friend auto operator<=>(const Position&, const Position&) = default;

  Position next() const noexcept { return {lane, time, sequence + 1}; }
};

// The lane of a message group; never 0. Groups may share one.
std::uint64_t lane_of(std::string_view group) noexcept;

}  // namespace canopy::queue
