// Scribe's evaluation (Castro, Druschel, Kermarrec, Rowstron, JSAC 2002): random
// members join groups, and the trees are measured.
//
// Nodes that have failed do not count.
//
// Nodes live on a transit-stub internet, b = 4 and |L| = 16. Everything follows
// from the seed: internet, ids and groups are the same with either kind of tables.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/progress.hpp"
#include "sim/scribe_figures.hpp"

namespace canopy::sim {

struct ScribeOptions {
  // Ideal tables: trees are worked out from the routes, without any node, and after
  // failures anew for the rest. Protocol: the ring is grown by joins, members join by
  // Scribe's own messages, and trees are repaired by it.
  enum class Tables : std::uint8_t { ideal, protocol };

  std::size_t nodes = 100'000;
  std::size_t groups = 1'500;
  std::size_t group_size = 0;  // 0: Zipf's
  Tables tables = Tables::ideal;
  // Worked out on the finished ideal trees, or what nodes do.
  bool collapse = false;           // path collapse
  std::uint32_t children_max = 0;  // bottleneck remover: of a node; 0: none
  double failures = 0;             // this share of the nodes fails once all members have joined
  std::uint64_t seed = 1;
};

struct ScribeReport {
  std::uint64_t joins = 0;          // JOIN messages, those of children that move included
  std::uint64_t remover_moves = 0;  // by the protocol those of path collapse, too
  std::uint64_t missed = 0;         // running members that are in no tree
  ScribeFigures figures;
};

ScribeReport run_scribe_experiment(const ScribeOptions& options, const Progress& progress);

}  // namespace canopy::sim
