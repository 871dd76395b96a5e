#include "sim/scribe_experiment.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/ideal_trees.hpp"
#include "sim/plane.hpp"
#include "sim/scribe_groups.hpp"

namespace canopy::sim {
namespace {

void no_steps(std::string_view, double) {}

TEST(ZipfSizes, are_those_of_the_evaluation) {
  const auto sizes = zipf_sizes(100'000, 1'500);
  EXPECT_EQ(sizes.size(), 1'500U);
  EXPECT_EQ(sizes.front(), 100'000U);
  EXPECT_EQ(sizes[1], 42'045U);
  EXPECT_EQ(sizes.back(), 11U);
  std::size_t memberships = 0;
  for (const std::size_t size : sizes) memberships += size;
  EXPECT_EQ(memberships, 395'247U);
}

TEST(ScribeExperiment, follows_from_its_seed) {
  ScribeOptions options;
  options.nodes = 2'000;
  options.groups = 30;
  const auto figures = [&](std::uint64_t seed) {
    options.seed = seed;
    return run_scribe_experiment(options, no_steps).figures;
  };
  const ScribeFigures one = figures(1);
  EXPECT_EQ(one.entries, figures(1).entries);
  EXPECT_EQ(one.scribe.loads(), figures(1).scribe.loads());
  EXPECT_NE(one.entries, figures(2).entries);
}

TEST(ScribeExperiment, has_a_JOIN_for_each_edge_and_each_move) {
  ScribeOptions options;
  options.nodes = 3'000;
  options.groups = 100;
  const auto plain = run_scribe_experiment(options, no_steps);
  EXPECT_EQ(plain.remover_moves, 0U);
  EXPECT_EQ(plain.joins, plain.figures.tree_nodes - options.groups);
  options.children_max = 20;
  const auto capped = run_scribe_experiment(options, no_steps);
  EXPECT_GT(capped.remover_moves, 0U);
  EXPECT_EQ(capped.joins, plain.joins + capped.remover_moves);
  EXPECT_EQ(capped.figures.tree_nodes, plain.figures.tree_nodes);
  EXPECT_GT(summary(plain.figures.entries).most, 20);
  EXPECT_EQ(summary(capped.figures.entries).most, 20);
  options.collapse = true;
  const auto collapsed = run_scribe_experiment(options, no_steps);
  EXPECT_LT(collapsed.figures.tree_nodes, plain.figures.tree_nodes);
  EXPECT_LE(summary(collapsed.figures.entries).most, 20);
  EXPECT_EQ(collapsed.figures.memberships, plain.figures.memberships);
}

// A worked example: 4,096 nodes with ids of 32 bits, at random on a plane.
class WorkedExample : public ::testing::Test {
 protected:
  static constexpr std::size_t nodes = 4'096;

  WorkedExample() {
    Random random(1);
    std::vector<RingOrder::Member> members;
    for (NodeIndex node = 0; node < nodes; ++node) {
      members.push_back({Id::hash_of(fmt::format("node-{:04}", node), 32), node});
      plane_.attach({1'000 * random.unit(), 1'000 * random.unit()});
    }
    ring_ = std::make_unique<RingOrder>(std::move(members));
    pastry::Config config;
    config.id_bits = 32;
    routes_ = std::make_unique<IdealRoutes>(*ring_, plane_, config);
  }

  GroupTrees grow(std::size_t groups, std::size_t size) {
    IdealTrees trees(*ring_, *routes_);
    Random random(size);
    std::vector<std::uint32_t> everybody(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) everybody[i] = i;
    for (std::size_t group = 0; group < groups; ++group) {
      for (std::size_t i = 0; i < size; ++i) {
        std::swap(everybody[i], everybody[i + random.below(nodes - i)]);
      }
      trees.grow(Id::hash_of(fmt::format("group-{}", group), 32),
                 {everybody.begin(), everybody.begin() + static_cast<std::ptrdiff_t>(size)});
    }
    return std::move(trees.trees());
  }

  Plane plane_;
  std::unique_ptr<RingOrder> ring_;
  std::unique_ptr<IdealRoutes> routes_;
};

struct ExampleRow {
  std::size_t size = 0;
  double nodes = 0;
  double forwarders = 0;
  double roots_children = 0;
  double most_children = 0;
  double distance_over_unicast = 0;
};

TEST_F(WorkedExample, has_trees_of_known_shape) {
  constexpr std::size_t groups = 30;
  for (const ExampleRow& expected : {ExampleRow{11, 28, 17, 7.2, 7.3, 0.95},
                                     {100, 185, 85, 21.0, 21.1, 0.42},
                                     {1000, 1179, 179, 34.8, 43.4, 0.14},
                                     {4096, 4096, 0, 46.5, 61.0, 0.08}}) {
    SCOPED_TRACE(expected.size);
    const GroupTrees trees = grow(groups, expected.size);
    ExampleRow sum;
    double tree_distance = 0;
    double unicast_distance = 0;
    for (std::size_t tree = 0; tree < groups; ++tree) {
      const auto& root = trees.places[trees.begin(tree)];
      std::uint32_t most = 0;
      for (auto place = trees.begin(tree); place < trees.end(tree); ++place) {
        const auto& [node, parent, children, member] = trees.places[place];
        most = std::max(most, children);
        if (!member && !trees.is_root(place)) ++sum.forwarders;
        if (member) unicast_distance += plane_.distance(root.node, node);
        tree_distance += plane_.distance(trees.places[parent].node, node);
      }
      sum.roots_children += root.children;
      sum.most_children += most;
    }
    const auto near = [](double value, double wanted) { EXPECT_NEAR(value, wanted, 0.1 * wanted); };
    near(static_cast<double>(trees.places.size()) / groups, expected.nodes);
    near(sum.forwarders / groups, expected.forwarders);
    near(sum.roots_children / groups, expected.roots_children);
    near(sum.most_children / groups, expected.most_children);
    near(tree_distance / unicast_distance, expected.distance_over_unicast);
  }
}

TEST_F(WorkedExample, spreads_groups_over_nodes) {
  const GroupTrees trees = grow(500, 100);
  std::vector<std::uint32_t> entries(nodes);
  std::vector<std::uint32_t> roots(nodes);
  std::size_t tables = 0;
  std::uint32_t all = 0;
  for (GroupTrees::PlaceIndex place = 0; place < trees.places.size(); ++place) {
    entries[trees.places[place].node] += trees.places[place].children;
    all += trees.places[place].children;
    if (trees.places[place].children > 0) ++tables;
    if (trees.is_root(place)) ++roots[trees.places[place].node];
  }
  EXPECT_NEAR(all, 91'517, 9'152);
  EXPECT_NEAR(static_cast<double>(tables) / nodes, 10.5, 1.05);
  EXPECT_LT(*std::max_element(entries.begin(), entries.end()), 180U);
  EXPECT_NEAR(nodes - std::count(roots.begin(), roots.end(), 0U), 456, 46);
  EXPECT_LE(*std::max_element(roots.begin(), roots.end()), 4U);
}

}  // namespace
}  // namespace canopy::sim
