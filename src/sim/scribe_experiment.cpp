#include "sim/scribe_experiment.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "scribe/group_name.hpp"
#include "sim/bottleneck_remover.hpp"
#include "sim/ideal_trees.hpp"
#include "sim/node_name.hpp"
#include "sim/protocol_trees.hpp"
#include "sim/ring_experiment.hpp"
#include "sim/scribe_groups.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {

namespace {

constexpr std::uint64_t group_seed = 0x67726f757073;

std::vector<std::size_t> group_sizes(const ScribeOptions& options) {
  if (options.group_size == 0) return zipf_sizes(options.nodes, options.groups);
  return std::vector<std::size_t>(options.groups, options.group_size);
}

GroupDraw groups_of(const ScribeOptions& options) {
  return GroupDraw(options.nodes, Random(options.seed ^ group_seed));
}

RingOrder ring_of(std::size_t nodes, unsigned id_bits) {
  std::vector<RingOrder::Member> members;
  for (NodeIndex node = 0; node < nodes; ++node) {
    members.push_back({Id::hash_of(node_name(node), id_bits), node});
  }
  return RingOrder(std::move(members));
}

GroupTrees grow_ideal_trees(const ScribeOptions& options, const TransitStub& internet,
                            const Progress& progress) {
  const auto config = pastry::Config::wan();
  progress("ideal tables", 0);
  const RingOrder ring = ring_of(options.nodes, config.id_bits);
  std::vector<std::uint32_t> position_of(ring.size());
  for (std::uint32_t i = 0; i < ring.size(); ++i) position_of[ring[i].node] = i;
  const IdealRoutes routes(ring, internet, config);
  IdealTrees trees(ring, routes);
  GroupDraw groups = groups_of(options);
  const auto sizes = group_sizes(options);
  const auto total = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), 0UL));
  std::size_t joined = 0;
  for (const std::size_t size : sizes) {
    progress("joining", static_cast<double>(joined) / total);
    auto [name, members] = groups.draw(size);
    for (auto& member : members) member = position_of[member];
    trees.grow(scribe::group_id(name, config.id_bits), members);
    joined += size;
  }
  return std::move(trees.trees());
}

ScribeReport measure(const ScribeOptions& options, GroupTrees trees, std::uint64_t joins,
                     const TransitStub& internet, const Progress& progress) {
  if (options.collapse) collapse_paths(trees);
  std::uint64_t moves = 0;
  if (options.children_max > 0) {
    progress("removing bottlenecks", 0);
    moves = remove_bottlenecks(trees, internet, options.children_max);
    if (options.collapse) collapse_paths(trees);
  }
  const auto sizes = group_sizes(options);
  const auto wanted = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  ScribeReport report{joins + moves, moves, 0, ScribeFigures(trees, internet, progress)};
  report.missed = wanted - report.figures.memberships;
  return report;
}

ScribeReport run_ideally(const ScribeOptions& options, const Progress& progress) {
  Random random(options.seed);
  TransitStub internet(random.fork());
  for (std::size_t node = 0; node < options.nodes; ++node) internet.attach(random);
  GroupTrees trees = grow_ideal_trees(options, internet, progress);
  const std::uint64_t edges = trees.places.size() - trees.size();
  return measure(options, std::move(trees), edges, internet, progress);
}

ScribeReport run_by_protocol(const ScribeOptions& options, const Progress& progress) {
  RingOptions ring_options;
  ring_options.nodes = options.nodes;
  ring_options.seed = options.seed;
  RingExperiment ring(ring_options, progress);
  ring.grow();
  GroupDraw draw = groups_of(options);
  std::vector<ScribeGroup> groups;
  for (const std::size_t size : group_sizes(options)) groups.push_back(draw.draw(size));
  auto [trees, joins] = grow_protocol_trees(ring.simulation(), groups, progress);
  return measure(options, std::move(trees), joins, ring.internet(), progress);
}

}  // namespace

ScribeReport run_scribe_experiment(const ScribeOptions& options, const Progress& progress) {
  return options.tables == ScribeOptions::Tables::ideal ? run_ideally(options, progress)
                                                        : run_by_protocol(options, progress);
}

}  // namespace canopy::sim
