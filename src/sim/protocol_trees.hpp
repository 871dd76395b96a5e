// Scribe's trees as nodes of a simulation grow them: each member joins by the
// protocol, at a steady pace, and what the nodes know then is put together.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/group_trees.hpp"
#include "sim/progress.hpp"
#include "sim/ring_order.hpp"
#include "sim/scribe_groups.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

struct ProtocolTrees {
  GroupTrees trees;
  std::uint64_t joins = 0;  // JOIN messages
};

// In a ring that has settled.
ProtocolTrees grow_protocol_trees(Simulation& simulation, const std::vector<ScribeGroup>& groups,
                                  const Progress& progress);

// What nodes of the ring can be reached from the root, which is the node closest to
// the group's id, by the children that each knows; a node counts where it is reached
// first.
GroupTrees trees_of(const Simulation& simulation, const RingOrder& ring,
                    const std::vector<Id>& groups);

}  // namespace canopy::sim
