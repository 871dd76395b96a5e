// Scribe's bottleneck remover on trees as flat data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/group_trees.hpp"
#include "sim/topology.hpp"

namespace canopy::sim {

// As long as a node has more children than `children_max` in all its groups
// together, it takes the group in which it has most of them and drops the
// farthest one, which joins that sibling s with the least delay(child, s) +
// delay(s, parent); and so on with those who got more children by that.
// A node whose groups have one child each cannot be helped. Returns how many
// children moved. Node i lives on host i.
std::uint64_t remove_bottlenecks(GroupTrees& trees, const Topology& topology,
                                 std::uint32_t children_max);

}  // namespace canopy::sim
