#include "sim/ideal_routes.hpp"

#include <gtest/gtest.h>

#include "sim/lookups.hpp"
#include "sim/node_name.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {
namespace {

constexpr std::size_t routed_nodes = 400;

class IdealRouting : public ::testing::Test {
 protected:
  IdealRouting() {
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

TEST_F(IdealRouting, is_that_of_nodes_with_ideal_tables_hop_by_hop) {
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

}  // namespace
}  // namespace canopy::sim
