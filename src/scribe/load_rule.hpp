// Whether moving a child from one node to another is worth it.
#pragma once

#include <cstddef>

namespace canopy::scribe {

// By their children, over all groups, of whom a node may have `allowed`. Where
// both have more, only while one has far more than the other: evening out ten
// thousand to the last one would never end.
constexpr bool relieves(std::size_t taker, std::size_t giver, std::size_t allowed) noexcept {
  return taker < allowed || taker + 1 + giver / 8 < giver;
}

}  // namespace canopy::scribe
