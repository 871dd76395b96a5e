#include "sim/checkers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/ideal_tables.hpp"
#include "sim/plane.hpp"

namespace canopy::sim {
namespace {

// A ring with ideal tables, in which nothing happens by itself.
class Checkers : public ::testing::Test {
 protected:
  Checkers() {
    Random random(11);
    for (int i = 0; i < 30; ++i) {
      plane_.attach(
          {static_cast<double>(random.below(1000)), static_cast<double>(random.below(1000))});
    }
    SimulationConfig config;
    config.overlay.pastry.b = 2;
    config.overlay.pastry.leaf_set_size = 4;
    config.overlay.pastry.maintenance = false;
    config.overlay.scribe.maintenance = false;
    config.overlay.scribe.children_entries_max = 3;
    simulation_ = std::make_unique<Simulation>(config, plane_);
    for (int i = 0; i < 30; ++i) {
      const std::string name = fmt::format("node-{}", i);
      simulation_->add_node(name, Id::hash_of(name));
    }
    fill_ideal_tables(*simulation_, ring());
    settle();
  }

  RingOrder ring() const { return running_nodes(*simulation_); }
  void settle() { simulation_->run_until_quiet(simulation_->now() + std::chrono::hours(1)); }
  void join(NodeIndex node) {
    simulation_->peer(node).scribe().join(group_, [](boost::system::error_code) {});
    settle();
  }

  const wire::GroupName group_{"prices", "node-3"};
  Plane plane_;
  std::unique_ptr<Simulation> simulation_;
};

TEST_F(Checkers, find_nothing_wrong_with_an_ideal_ring) {
  EXPECT_EQ(check_leaf_sets(*simulation_, ring()), Findings());
  EXPECT_EQ(check_roots(*simulation_, ring(), {Id::hash_of("a"), Id::hash_of("b")}), Findings());
}

TEST_F(Checkers, find_a_leaf_that_is_gone_and_one_that_is_missing) {
  simulation_->crash(9);
  const Findings findings = check_leaf_sets(*simulation_, ring());
  EXPECT_EQ(findings.size(), 4U);
  for (const auto& finding : findings) {
    EXPECT_NE(finding.find(simulation_->id(9).to_hex() + " (gone)"), std::string::npos) << finding;
  }
}

TEST_F(Checkers, find_a_key_without_a_root) {
  const Id key = simulation_->id(9);
  simulation_->crash(9);
  EXPECT_EQ(check_roots(*simulation_, ring(), {key}).size(), 1U);
}

TEST_F(Checkers, find_nothing_wrong_with_a_tree_that_reaches_its_members) {
  for (NodeIndex node = 0; node < 10; ++node) join(node);
  EXPECT_EQ(check_trees(*simulation_, ring()), Findings());
}

TEST_F(Checkers, find_who_keeps_more_children_than_it_may) {
  for (NodeIndex node = 0; node < 3; ++node) join(node);
  EXPECT_EQ(check_degrees(*simulation_, ring()), Findings());
  for (NodeIndex node = 3; node < 30; ++node) join(node);
  EXPECT_NE(check_degrees(*simulation_, ring()), Findings());
}

TEST_F(Checkers, find_who_is_in_a_tree_for_one_child_alone) {
  EXPECT_EQ(check_paths(*simulation_, ring()), Findings());
  for (NodeIndex node = 0; node < 4; ++node) join(node);
  EXPECT_NE(check_paths(*simulation_, ring()), Findings());
}

TEST_F(Checkers, find_members_that_a_broken_tree_does_not_reach) {
  for (NodeIndex node = 0; node < 10; ++node) join(node);
  for (NodeIndex node = 10; node < 30; ++node) {
    const auto view = simulation_->peer(node).scribe().view(
        scribe::group_id(group_, simulation_->overlay_config().pastry.id_bits));
    if (!view || view->children.empty()) continue;
    simulation_->crash(node);
    EXPECT_NE(check_trees(*simulation_, ring()), Findings());
    return;
  }
  FAIL() << "the tree has no forwarder";
}

}  // namespace
}  // namespace canopy::sim
