// Keys that tell most of who answers for what: where each node is, and where the
// ranges of two neighbours meet.
#pragma once

#include <vector>

#include "base/id.hpp"
#include "sim/ring_order.hpp"

namespace canopy::sim {

// The key halfway from a to b, clockwise; both are as close to it if their
// distance is even.
Id midpoint(const Id& a, const Id& b, unsigned id_bits);

// The ids of all members, and the midpoints between neighbours.
std::vector<Id> telling_keys(const RingOrder& ring, unsigned id_bits);

}  // namespace canopy::sim
