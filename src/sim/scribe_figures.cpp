#include "sim/scribe_figures.hpp"

#include <algorithm>
#include <numeric>

namespace canopy::sim {

namespace {

Duration delay_in_tree(const GroupTrees& trees, GroupTrees::PlaceIndex place,
                       const TransitStub& internet) {
  Duration delay{};
  while (!trees.is_root(place)) {
    const auto parent = trees.places[place].parent;
    delay += internet.delay(trees.places[parent].node, trees.places[place].node);
    place = parent;
  }
  return delay;
}

// To a group's members: all together, and the largest.
struct Delays {
  Duration sum{};
  Duration most{};

  void add(Duration delay) {
    sum += delay;
    most = std::max(most, delay);
  }
};

double ratio(Duration a, Duration b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

template <class Value>
Summary summary_of(std::vector<Value> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto number = [&](std::size_t i) { return static_cast<double>(values[i]); };
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const std::size_t count = values.size();
  return {sum / static_cast<double>(count), (number((count - 1) / 2) + number(count / 2)) / 2,
          number(count - 1)};
}

}  // namespace

ScribeFigures::ScribeFigures(const GroupTrees& trees, const TransitStub& internet,
                             const Progress& progress)
    : tree_nodes(trees.places.size()),
      tables(internet.hosts()),
      entries(internet.hosts()),
      scribe(internet),
      ip(internet),
      unicast(internet) {
  for (const auto& place : trees.places) {
    if (place.member) ++memberships;
    if (place.children > 0) ++tables[place.node];
    entries[place.node] += place.children;
  }
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    progress("measuring",
             static_cast<double>(trees.begin(tree)) / static_cast<double>(trees.places.size()));
    measure_delays(trees, tree, internet);
    measure_loads(trees, tree);
  }
}

void ScribeFigures::measure_delays(const GroupTrees& trees, std::size_t tree,
                                   const TransitStub& internet) {
  const NodeIndex root = trees.places[trees.begin(tree)].node;
  Delays along_tree;
  Delays direct;
  for (auto place = trees.begin(tree); place < trees.end(tree); ++place) {
    if (!trees.places[place].member) continue;
    along_tree.add(delay_in_tree(trees, place, internet));
    direct.add(internet.delay(root, trees.places[place].node));
  }
  if (direct.most.count() == 0) return;
  rad.push_back(ratio(along_tree.sum, direct.sum));
  rmd.push_back(ratio(along_tree.most, direct.most));
}

void ScribeFigures::measure_loads(const GroupTrees& trees, std::size_t tree) {
  const NodeIndex root = trees.places[trees.begin(tree)].node;
  ip.begin_multicast(root);
  for (auto place = trees.begin(tree); place < trees.end(tree); ++place) {
    const auto& [node, parent, children, member] = trees.places[place];
    scribe.send(trees.places[parent].node, node);
    if (!member) continue;
    ip.reach(node);
    unicast.send(root, node);
  }
}

Summary summary(const std::vector<std::uint32_t>& values) { return summary_of(values); }
Summary summary(const std::vector<double>& values) { return summary_of(values); }

}  // namespace canopy::sim
