// The multicast trees of many groups, as flat data: what the figures of Scribe's
// evaluation are worked out from, however the trees came about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/network.hpp"

namespace canopy::sim {

struct GroupTrees {
  using PlaceIndex = std::uint32_t;

  // A node's place in one group's tree.
  struct Place {
    NodeIndex node = no_node;
    PlaceIndex parent = 0;  // the root's: itself
    std::uint32_t children = 0;
    bool member = false;
  };

  std::vector<Place> places;       // tree after tree, each with its root first
  std::vector<PlaceIndex> begins;  // of each tree

  std::size_t size() const { return begins.size(); }
  PlaceIndex begin(std::size_t tree) const { return begins[tree]; }
  PlaceIndex end(std::size_t tree) const {
    return tree + 1 < begins.size() ? begins[tree + 1] : static_cast<PlaceIndex>(places.size());
  }
  bool is_root(PlaceIndex place) const { return places[place].parent == place; }
};

// Path collapse: whoever is neither root nor member and has one child leaves,
// and its parent adopts the child.
void collapse_paths(GroupTrees& trees);

}  // namespace canopy::sim
