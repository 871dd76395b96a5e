// Scribe's trees as they grow over ideal tables: each member's JOIN follows its
// route to the group's root until it meets the tree, and whoever it passes adopts
// the one before. Not by any node's code: see IdealRoutes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.hpp"
#include "sim/group_trees.hpp"
#include "sim/ideal_routes.hpp"

namespace canopy::sim {

class IdealTrees {
 public:
  // Both must outlive this.
  IdealTrees(const RingOrder& ring, const IdealRoutes& routes);

  // Members by their positions on the ring, in the order in which they join.
  void grow(const Id& group, const std::vector<std::uint32_t>& members);

  GroupTrees& trees() { return trees_; }

 private:
  bool in_tree(std::size_t position) const {
    return place_of_[position] != none && place_of_[position] >= trees_.begins.back();
  }
  void join(std::size_t position, const IdealRoutes::Key& key);
  void add(std::size_t position, GroupTrees::PlaceIndex parent);

  static constexpr GroupTrees::PlaceIndex none = 0xffffffff;

  const RingOrder& ring_;
  const IdealRoutes& routes_;
  GroupTrees trees_;
  std::vector<GroupTrees::PlaceIndex> place_of_;  // by position: in the last tree that has it
  std::vector<std::size_t> route_;
};

}  // namespace canopy::sim
