// Scribe's trees as nodes of a simulation grow and repair them: each member joins by
// the protocol, at a steady pace, and what the nodes know then is put together.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/group_trees.hpp"
#include "sim/progress.hpp"
#include "sim/ring_order.hpp"
#include "sim/scribe_groups.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

// Lets so much time pass.
void pass_time(Simulation& simulation, Duration time, std::string_view doing,
               const Progress& progress);

// In a ring that has settled. Returns the groups' ids.
std::vector<Id> join_groups(Simulation& simulation, const std::vector<ScribeGroup>& groups,
                            const Progress& progress);

// Until bottleneck remover and path collapse have moved nobody for a while, if they
// are on.
void settle_loads(Simulation& simulation, const Progress& progress);

// Nodes that have gone to another parent at the wish of theirs, so far; of those
// that run.
std::uint64_t relocations(const Simulation& simulation);

// All at once, and then long enough for ring and trees to be whole again.
void fail_nodes(Simulation& simulation, const std::vector<NodeIndex>& nodes,
                const Progress& progress);

// JOINs so far, counted at each hop.
std::uint64_t join_messages(const Simulation& simulation);

// What nodes of the ring can be reached from the root, which is the node closest to
// the group's id, by the children that each knows; a node counts where it is reached
// first.
GroupTrees trees_of(const Simulation& simulation, const RingOrder& ring,
                    const std::vector<Id>& groups);

}  // namespace canopy::sim
