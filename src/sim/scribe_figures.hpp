// What Scribe's evaluation (Castro, Druschel, Kermarrec, Rowstron, JSAC 2002)
// measures of multicast trees: delay penalty, node stress and link stress, for
// one message to each group from its root; beside IP multicast along shortest
// paths and beside one unicast to each member.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/group_trees.hpp"
#include "sim/link_loads.hpp"
#include "sim/progress.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {

struct ScribeFigures {
  // Node i lives on host i.
  ScribeFigures(const GroupTrees& trees, const TransitStub& internet, const Progress& progress);

  std::uint64_t memberships = 0;
  std::uint64_t tree_nodes = 0;  // of all trees, roots included

  // Node stress, by node: groups in which it has children, and these together.
  std::vector<std::uint32_t> tables;
  std::vector<std::uint32_t> entries;

  // Delay penalty: the average and the largest of a group's delays from the root to
  // its members, over those of IP multicast. By group, but for those without a
  // member beside the root.
  std::vector<double> rad;
  std::vector<double> rmd;

  // Link stress.
  LinkLoads scribe;
  LinkLoads ip;
  LinkLoads unicast;

 private:
  void measure_delays(const GroupTrees& trees, std::size_t tree, const TransitStub& internet);
  void measure_loads(const GroupTrees& trees, std::size_t tree);
};

struct Summary {
  double mean = 0;
  double median = 0;  // between the two in the middle, where there are two
  double most = 0;
};

// Of no values: zeros.
Summary summary(const std::vector<std::uint32_t>& values);
Summary summary(const std::vector<double>& values);

}  // namespace canopy::sim
