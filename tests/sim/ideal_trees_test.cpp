#include "sim/ideal_trees.hpp"

#include <map>

#include <gtest/gtest.h>

#include "scribe/group_name.hpp"
#include "sim/lookups.hpp"
#include "sim/node_name.hpp"
#include "sim/protocol_trees.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {
namespace {

constexpr std::size_t routed_nodes = 400;

class IdealOracle : public ::testing::Test {
 protected:
  IdealOracle() {
    Random random(11);
    for (NodeIndex node = 0; node < routed_nodes; ++node) internet_.attach(random);
    config_.overlay.pastry.maintenance = false;
    config_.overlay.scribe.maintenance = false;
    simulation_ = std::make_unique<Simulation>(config_, internet_);
    std::vector<RingOrder::Member> members;
    for (NodeIndex node = 0; node < routed_nodes; ++node) {
      simulation_->add_node(node_name(node), Id::hash_of(node_name(node)));
      members.push_back({simulation_->id(node), node});
    }
    ring_ = std::make_unique<RingOrder>(std::move(members));
    fill_ideal_tables(*simulation_, *ring_);
  }

  SimulationConfig config_;
  TransitStub internet_{Random(7)};
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<RingOrder> ring_;
};

TEST_F(IdealOracle, routes_as_nodes_with_ideal_tables_do_hop_by_hop) {
  const IdealRoutes routes(*ring_, internet_, config_.overlay.pastry);
  std::size_t hops = 0;
  for (const Lookup& lookup : random_lookups(500, routed_nodes, 160, Random(3))) {
    const auto key = routes.key(lookup.key);
    for (std::size_t at = 0; at < ring_->size(); ++at) {
      const auto hop = simulation_->peer((*ring_)[at].node).pastry().next_hop(lookup.key);
      if (!hop) {
        EXPECT_EQ(at, key.root);
        continue;
      }
      EXPECT_EQ((*ring_)[routes.next(at, key)].node, simulation_->node_of(hop));
      ++hops;
    }
  }
  EXPECT_GT(hops, 100'000U);
}

// Each node's parent, and whether it is a member.
using Tree = std::map<NodeIndex, std::pair<NodeIndex, bool>>;
Tree tree_of(const GroupTrees& trees, std::size_t tree) {
  Tree found;
  for (auto place = trees.begin(tree); place < trees.end(tree); ++place) {
    const auto& [node, parent, children, member] = trees.places[place];
    EXPECT_TRUE(found.emplace(node, std::pair(trees.places[parent].node, member)).second);
  }
  return found;
}

TEST_F(IdealOracle, grows_the_trees_that_nodes_with_ideal_tables_do) {
  const IdealRoutes routes(*ring_, internet_, config_.overlay.pastry);
  IdealTrees ideal(*ring_, routes);
  std::vector<std::uint32_t> position_of(routed_nodes);
  for (std::uint32_t i = 0; i < routed_nodes; ++i) position_of[(*ring_)[i].node] = i;
  std::vector<ScribeGroup> groups;
  GroupDraw draw(routed_nodes, Random(5));
  for (const std::size_t size : {400U, 100U, 30U, 11U, 1U, 0U}) {
    groups.push_back(draw.draw(size));
    std::vector<std::uint32_t> members;
    for (const NodeIndex member : groups.back().members) members.push_back(position_of[member]);
    ideal.grow(scribe::group_id(groups.back().name, 160), members);
  }
  const auto ids = join_groups(*simulation_, groups, [](std::string_view, double) {});
  const GroupTrees grown = trees_of(*simulation_, *ring_, ids);
  ASSERT_EQ(grown.size(), groups.size());
  for (std::size_t tree = 0; tree < groups.size(); ++tree) {
    EXPECT_EQ(tree_of(grown, tree), tree_of(ideal.trees(), tree));
  }
  EXPECT_EQ(join_messages(*simulation_), grown.places.size() - groups.size());
}

}  // namespace
}  // namespace canopy::sim
