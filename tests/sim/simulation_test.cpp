#include "sim/simulation.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scribe/group_name.hpp"
#include "sim/checkers.hpp"
#include "sim/plane.hpp"

namespace canopy::sim {
namespace {

using namespace std::chrono_literals;

// A ring on a plane, small constants, LAN profile.
class Rings : public ::testing::Test {
 protected:
  void build(std::size_t nodes, std::uint64_t seed = 1, bool encode = false, bool disks = false) {
    SimulationConfig config;
    config.seed = seed;
    config.encode = encode;
    config.disks = disks;
    config.overlay.pastry = pastry::Config::lan();
    config.overlay.pastry.b = 2;
    config.overlay.pastry.leaf_set_size = 4;
    config.overlay.scribe = scribe::Config::lan();
    plane_ = std::make_unique<Plane>();
    simulation_ = std::make_unique<Simulation>(config, *plane_);
    simulation_->trace().write_to(text_);
    Random random(seed);
    for (NodeIndex node = 0; node < nodes; ++node) {
      plane_->attach(
          {static_cast<double>(random.below(100)), static_cast<double>(random.below(100))});
      const std::string name = fmt::format("node-{}", node);
      simulation_->add_node(name, Id::hash_of(name));
      if (node == 0) {
        simulation_->found(node);
      } else {
        simulation_->join(node, {static_cast<NodeIndex>(random.below(node))});
      }
      simulation_->run_for(200ms);
    }
    simulation_->run_for(30s);
  }

  Findings wrong() { return check_leaf_sets(*simulation_, running_nodes(*simulation_)); }

  std::unique_ptr<Plane> plane_;
  std::unique_ptr<Simulation> simulation_;
  std::ostringstream text_;
};

TEST_F(Rings, form_by_joins) {
  build(40);
  EXPECT_EQ(wrong(), Findings());
  EXPECT_GT(simulation_->messages_sent(), 40U * 10);
}

TEST_F(Rings, have_one_root_for_every_key) {
  build(30);
  std::vector<Id> keys;
  for (int i = 0; i < 200; ++i) keys.push_back(Id::hash_of(fmt::format("key {}", i)));
  EXPECT_EQ(check_roots(*simulation_, running_nodes(*simulation_), keys), Findings());
}

// A root, all its replicas and everybody else but one, at the same moment.
TEST_F(Rings, have_their_groups_again_from_the_disks_of_those_that_crashed) {
  for (const bool disks : {false, true}) {
    build(20, 3, false, disks);
    const unsigned id_bits = simulation_->overlay_config().pastry.id_bits;
    // Of which node 0, who stays, keeps no replica.
    wire::GroupName name{"closed", "ann"};
    const auto closer_ones = [&] {
      const Id id = scribe::group_id(name, id_bits);
      NodeIndex count = 0;
      for (NodeIndex node = 1; node < 20; ++node) {
        count += closer_to(id, simulation_->id(node), simulation_->id(0)) ? 1 : 0;
      }
      return count;
    };
    while (closer_ones() < 12) name.name += '+';
    wire::AccessList list;
    list.join = {false, {simulation_->id(0)}, {}};
    simulation_->peer(0).scribe().create(
        name, wire::GroupMode::ordered, std::make_shared<const wire::AccessList>(list), nullptr,
        [](boost::system::error_code error, const scribe::CreateOutcome&) {
          EXPECT_FALSE(error) << error.message();
        });
    simulation_->run_for(5s);
    for (NodeIndex node = 1; node < 20; ++node) simulation_->crash(node);
    for (NodeIndex node = 1; node < 20; ++node) {
      simulation_->restart(node);
      simulation_->join(node, {0});
    }
    simulation_->run_for(2min);
    EXPECT_EQ(wrong(), Findings());
    wire::GroupState found;
    simulation_->peer(0).scribe().look(
        name, [&](boost::system::error_code, const wire::GroupState& state) { found = state; });
    simulation_->run_for(15s);
    EXPECT_EQ(found.created, disks);
    if (!disks) continue;
    EXPECT_EQ(found.mode, wire::GroupMode::ordered);
    ASSERT_TRUE(found.access);
    EXPECT_EQ(found.access->join, list.join);
  }
}

TEST_F(Rings, replay_from_their_seed) {
  build(20, 5);
  const auto first = simulation_->trace().hash();
  build(20, 5);
  EXPECT_EQ(simulation_->trace().hash(), first);
  build(20, 6);
  EXPECT_NE(simulation_->trace().hash(), first);
}

TEST_F(Rings, hash_as_their_trace_does) {
  build(10);
  std::istringstream text(text_.str());
  std::string error;
  EXPECT_EQ(Trace::hash_of_text(text, error), simulation_->trace().hash()) << error;
}

TEST_F(Rings, do_the_same_through_the_wire_codec) {
  build(20, 3);
  const auto plain = simulation_->trace().hash();
  build(20, 3, true);
  EXPECT_EQ(check_encoding(*simulation_), Findings());
  EXPECT_EQ(simulation_->trace().hash(), plain);
}

TEST_F(Rings, tell_of_a_message_that_the_wire_codec_refuses) {
  build(3, 1, true);
  const wire::Peers too_many(5'000, simulation_->ref(2));
  simulation_->peer(0).pastry().send(simulation_->ref(1), wire::Departure{too_many});
  simulation_->peer(0).scribe().flush();
  EXPECT_EQ(check_encoding(*simulation_), Findings{"1 messages could not be encoded"});
}

TEST_F(Rings, repair_themselves_after_a_crash_and_take_the_node_back) {
  build(20);
  simulation_->crash(7);
  EXPECT_TRUE(simulation_->stopped(7));
  simulation_->run_for(2min);
  EXPECT_EQ(wrong(), Findings());

  const PeerRef before = simulation_->ref(7);
  simulation_->restart(7);
  simulation_->join(7, {3});
  EXPECT_NE(simulation_->ref(7), before);
  EXPECT_EQ(simulation_->node_of(before), 7U);
  EXPECT_EQ(simulation_->peers()[simulation_->ref(7)].incarnation, 2U);
  simulation_->run_for(2min);
  EXPECT_EQ(wrong(), Findings());
}

// Of the others each knows only earlier starts.
TEST_F(Rings, meet_where_all_that_they_know_of_each_other_is_outdated) {
  build(6);
  for (const NodeIndex node : {3U, 4U, 5U}) simulation_->crash(node);
  simulation_->run_for(30s);
  simulation_->restart(3);
  simulation_->found(3);
  for (const NodeIndex node : {4U, 5U}) {
    simulation_->restart(node);
    simulation_->join(node, {3});
  }
  simulation_->run_for(5s);
  EXPECT_NE(wrong(), Findings()) << "two rings";
  simulation_->run_for(2min);
  EXPECT_EQ(wrong(), Findings());
}

TEST_F(Rings, let_nodes_depart) {
  build(20);
  simulation_->depart(4);
  simulation_->run_for(1min);
  EXPECT_TRUE(simulation_->stopped(4));
  EXPECT_EQ(wrong(), Findings());
}

TEST_F(Rings, drop_a_hung_node_and_take_it_back_when_it_resumes) {
  build(20);
  simulation_->hang(5);
  simulation_->run_for(1min);
  for (NodeIndex node = 0; node < simulation_->size(); ++node) {
    if (node == 5) continue;
    EXPECT_FALSE(simulation_->peer(node).pastry().leaf_set().contains(simulation_->ref(5)));
  }
  simulation_->resume(5);
  simulation_->run_for(3min);
  EXPECT_EQ(wrong(), Findings());
}

TEST_F(Rings, lose_what_a_hung_node_has_no_room_for) {
  build(20);
  EXPECT_EQ(simulation_->lost(), 0U);
  simulation_->hang(5);
  for (unsigned i = 0; i <= SimulationConfig().inbox_max; ++i) {
    simulation_->peer(4).pastry().send(simulation_->ref(5), wire::Heartbeat{});
  }
  simulation_->peer(4).scribe().flush();
  simulation_->run_for(1s);
  EXPECT_GT(simulation_->lost(), 0U);
}

TEST_F(Rings, live_with_loss_and_clocks_that_drift) {
  build(20);
  simulation_->network().set_faults({.loss = 0.05, .duplication = 0.02, .reordering = 0.1});
  for (NodeIndex node = 0; node < 20; ++node) {
    simulation_->set_clock_drift(node, static_cast<std::int32_t>(node) * 1'000 - 10'000);
  }
  simulation_->run_for(3min);
  EXPECT_GT(simulation_->lost(), 0U);
  simulation_->network().set_faults({});
  simulation_->run_for(3min);
  EXPECT_EQ(wrong(), Findings());
}

}  // namespace
}  // namespace canopy::sim
