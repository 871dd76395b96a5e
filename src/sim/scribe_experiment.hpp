// Scribe's evaluation (Castro, Druschel, Kermarrec, Rowstron, JSAC 2002) over
// ideal Pastry tables: random members join groups, and the trees are measured.
//
// Nodes live on a transit-stub internet, b = 4 and |L| = 16. Everything follows
// from the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/progress.hpp"
#include "sim/scribe_figures.hpp"

namespace canopy::sim {

struct ScribeOptions {
  std::size_t nodes = 100'000;
  std::size_t groups = 1'500;
  std::size_t group_size = 0;      // 0: Zipf's
  std::uint32_t children_max = 0;  // of a node, for the bottleneck remover; 0: none
  bool collapse = false;           // of paths
  std::uint64_t seed = 1;
};

// Of the groups from the largest on: floor(nodes * rank^-1.25 + 0.5).
std::vector<std::size_t> zipf_sizes(std::size_t nodes, std::size_t groups);

struct ScribeReport {
  std::uint64_t joins = 0;  // JOIN messages: one an edge, and one each time that a child moves
  std::uint64_t remover_moves = 0;
  ScribeFigures figures;
};

ScribeReport run_scribe_experiment(const ScribeOptions& options, const Progress& progress);

}  // namespace canopy::sim
