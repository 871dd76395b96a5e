// One group's multicast tree as the nodes' own views describe it, walked from
// the root down: what checkers, scenarios and drawings of it start from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "sim/ring_order.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

struct TreeWalk {
  struct Place {
    NodeIndex node = no_node;
    NodeIndex parent = no_node;
    std::size_t depth = 0;
  };

  NodeIndex root = no_node;
  std::vector<Place> places;       // parents before their children
  std::vector<NodeIndex> members;  // of the whole ring, reached or not
  // Why it is no tree that reaches every member; empty if it is one.
  std::vector<std::string> violations;
};

// The root is the node of `ring` that is closest to the group's id. Nodes that
// are not in `ring` (stopped, cut off) count as absent.
TreeWalk walk_tree(const Simulation& simulation, const RingOrder& ring, const Id& group);

}  // namespace canopy::sim
