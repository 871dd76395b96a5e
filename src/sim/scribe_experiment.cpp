#include "sim/scribe_experiment.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/random.hpp"
#include "scribe/group_name.hpp"
#include "sim/bottleneck_remover.hpp"
#include "sim/ideal_trees.hpp"
#include "sim/node_name.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {

namespace {

// Draws distinct numbers below a bound, time after time.
class Sampler {
 public:
  Sampler(std::size_t bound, Random random) : numbers_(bound), random_(random) {
    std::iota(numbers_.begin(), numbers_.end(), 0U);
  }

  std::vector<std::uint32_t> draw(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(numbers_[i], numbers_[i + random_.below(numbers_.size() - i)]);
    }
    return {numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  std::vector<std::uint32_t> numbers_;
  Random random_;
};

RingOrder ring_of(std::size_t nodes, unsigned id_bits) {
  std::vector<RingOrder::Member> members;
  for (NodeIndex node = 0; node < nodes; ++node) {
    members.push_back({Id::hash_of(node_name(node), id_bits), node});
  }
  return RingOrder(std::move(members));
}

std::vector<std::size_t> group_sizes(const ScribeOptions& options) {
  if (options.group_size == 0) return zipf_sizes(options.nodes, options.groups);
  return std::vector<std::size_t>(options.groups, options.group_size);
}

GroupTrees grow_trees(const ScribeOptions& options, const TransitStub& internet, Random random,
                      const Progress& progress) {
  const auto config = pastry::Config::wan();
  progress("ideal tables", 0);
  const RingOrder ring = ring_of(options.nodes, config.id_bits);
  const IdealRoutes routes(ring, internet, config);
  IdealTrees trees(ring, routes);
  Sampler nodes(options.nodes, random.fork());
  const auto sizes = group_sizes(options);
  const auto total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  std::size_t joined = 0;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    progress("joining", static_cast<double>(joined) / static_cast<double>(total));
    const std::string creator = node_name(static_cast<NodeIndex>(random.below(options.nodes)));
    const wire::GroupName name{fmt::format("group-{:06}", group), creator};
    trees.grow(scribe::group_id(name, config.id_bits), nodes.draw(sizes[group]));
    joined += sizes[group];
  }
  return std::move(trees.trees());
}

}  // namespace

std::vector<std::size_t> zipf_sizes(std::size_t nodes, std::size_t groups) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 1; i <= groups; ++i) {
    const auto rank = static_cast<double>(i);
    // rank^1.25, by operations that are exact everywhere.
    const double divisor = rank * std::sqrt(std::sqrt(rank));
    sizes.push_back(static_cast<std::size_t>(static_cast<double>(nodes) / divisor + 0.5));
  }
  return sizes;
}

ScribeReport run_scribe_experiment(const ScribeOptions& options, const Progress& progress) {
  Random random(options.seed);
  TransitStub internet(random.fork());
  for (std::size_t node = 0; node < options.nodes; ++node) internet.attach(random);
  GroupTrees trees = grow_trees(options, internet, random.fork(), progress);
  const std::uint64_t edges = trees.places.size() - trees.size();
  if (options.collapse) collapse_paths(trees);
  std::uint64_t moves = 0;
  if (options.children_max > 0) {
    progress("removing bottlenecks", 0);
    moves = remove_bottlenecks(trees, internet, options.children_max);
    if (options.collapse) collapse_paths(trees);
  }
  return {edges + moves, moves, ScribeFigures(trees, internet, progress)};
}

}  // namespace canopy::sim
