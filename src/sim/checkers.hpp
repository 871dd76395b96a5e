// What must hold of a simulation once it is quiet, checked against global
// knowledge and by other means than the protocol's own. Each check returns what
// it found wrong, one text a finding; nothing if all is well. They only look.
#pragma once

#include <string>
#include <vector>

#include "base/id.hpp"
#include "sim/ring_order.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

using Findings = std::vector<std::string>;

// Every node with a running process, in ring order.
RingOrder running_nodes(const Simulation& simulation);

// Every node of the ring is active and its leaf set holds exactly the nearest
// nodes of either side, in their present incarnation.
Findings check_leaf_sets(const Simulation& simulation, const RingOrder& ring);

// Exactly one node of the ring takes itself for the root of each key: the one
// whose id is closest.
Findings check_roots(const Simulation& simulation, const RingOrder& ring,
                     const std::vector<Id>& keys);

// Every group that any node is in forms a tree from the root down, without
// cycles, that reaches every member.
Findings check_trees(const Simulation& simulation, const RingOrder& ring);

// Nobody has more children than it may, over all groups, if it has one that could
// be below a sibling which has fewer.
Findings check_degrees(const Simulation& simulation, const RingOrder& ring);

// If paths collapse, nobody is in a tree for one child alone.
Findings check_paths(const Simulation& simulation, const RingOrder& ring);

// Every message that was sent could be encoded, if encoding was asked for.
Findings check_encoding(const Simulation& simulation);

}  // namespace canopy::sim
