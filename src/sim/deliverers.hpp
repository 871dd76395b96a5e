// Who would deliver what now, counted over a whole ring: each key is to have one
// node that takes itself for its root and holds the leases to act as such.
#pragma once

#include <cstddef>
#include <vector>

#include "base/id.hpp"
#include "sim/ring_order.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

struct KeyCover {
  std::size_t keys = 0;
  std::size_t unserved = 0;   // nobody would deliver it
  std::size_t contested = 0;  // more than one would
  std::size_t misplaced = 0;  // one would that is not the closest of the ring

  bool exact() const noexcept { return unserved + contested + misplaced == 0; }
};

// Of all keys, by the nodes of the ring; those that hang do not count. A node can
// act but for keys between its nearest leaves, so that every key is asked of a few
// nodes only. Keys in ascending order.
KeyCover cover_of(Simulation& simulation, const RingOrder& ring, const std::vector<Id>& keys);

}  // namespace canopy::sim
