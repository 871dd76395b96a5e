// Two nodes of a ring that do not reach each other, but everybody else.
#include "pastry/relays.hpp"

#include <gtest/gtest.h>

#include "test_network.hpp"

namespace canopy::pastry {
namespace {

using namespace std::chrono_literals;
using test::TestNetwork;
using test::TestNode;

class RelaysTest : public ::testing::Test {
 protected:
  RelaysTest() {
    network_.grow(20);
    network_.run_for(10s);
    const auto ring = network_.ring();
    one_ = ring[3];
    other_ = ring[4];
  }

  Pastry& one() { return *one_->pastry; }
  Pastry& other() { return *other_->pastry; }

  Id id(const TestNode& node) { return network_.peers().id(node.pastry->self()); }

  void cut(bool back_too) {
    network_.censor = [this, back_too](PeerRef from, PeerRef to, const wire::Message&) {
      const PeerRef first = one().self();
      const PeerRef second = other().self();
      return (from == first && to == second) || (back_too && from == second && to == first);
    };
  }

  // For so long each stays the other's neighbour and, when it has found another way to renew
  // its lease, acts for what is its own.
  void expect_neighbors_for(int seconds) {
    constexpr int without_lease = 3;
    for (int i = 0; i < seconds; ++i) {
      network_.run_for(1s);
      ASSERT_TRUE(network_.leaf_sets_exact()) << "after " << i << " s";
      if (i < without_lease) continue;
      EXPECT_TRUE(other().is_root(id(*other_)) && other().may_act(id(*other_)));
      EXPECT_TRUE(one().is_root(id(*one_)) && one().may_act(id(*one_)));
      EXPECT_FALSE(one().is_root(id(*other_)));
    }
  }

  std::size_t delivered_after_routing(TestNode& from, const Id& key, TestNode& root) {
    const std::size_t before = root.seen.delivered.size();
    from.pastry->route(key, wire::Publish{.origin = from.pastry->self()});
    network_.run_for(2s);
    return root.seen.delivered.size() - before;
  }

  TestNetwork network_{Config{}, 10};
  TestNode* one_ = nullptr;
  TestNode* other_ = nullptr;
};

TEST_F(RelaysTest, NeighborsThatDoNotReachEachOtherStayNeighbors) {
  cut(true);
  expect_neighbors_for(60);
  EXPECT_TRUE(one().relayed(other().self()));
  EXPECT_TRUE(other().relayed(one().self()));
  EXPECT_EQ(delivered_after_routing(*one_, id(*other_), *other_), 1);
  EXPECT_EQ(delivered_after_routing(*other_, id(*one_), *one_), 1);

  network_.censor = nullptr;
  network_.run_for(2 * Config{}.heartbeat_interval);
  EXPECT_FALSE(one().relayed(other().self()));
  EXPECT_FALSE(other().relayed(one().self()));
  EXPECT_TRUE(network_.leaf_sets_exact());
}

TEST_F(RelaysTest, ACutOfOneWayIsEnough) {
  cut(false);
  expect_neighbors_for(60);
  EXPECT_TRUE(one().relayed(other().self()));
  EXPECT_EQ(delivered_after_routing(*one_, id(*other_), *other_), 1);
  EXPECT_EQ(delivered_after_routing(*other_, id(*one_), *one_), 1);
}

TEST_F(RelaysTest, AnotherRelayTakesThePlaceOfOneThatDies) {
  cut(true);
  network_.run_for(10s);
  const auto ring = network_.ring();
  network_.crash(*ring[2]);
  network_.crash(*ring[5]);
  ASSERT_TRUE(network_.run_until([&] { return network_.leaf_sets_exact(); }, 15s));
  expect_neighbors_for(20);
  EXPECT_EQ(delivered_after_routing(*one_, id(*other_), *other_), 1);
}

TEST_F(RelaysTest, ARelayedPeerThatDiesIsGivenUp) {
  cut(true);
  network_.run_for(10s);
  network_.crash(*other_);
  EXPECT_TRUE(network_.run_until([&] { return network_.leaf_sets_exact(); }, 10s));
  EXPECT_FALSE(one().relayed(other().self()));
}

TEST_F(RelaysTest, SaysHowManyItRelaysFor) {
  cut(true);
  network_.run_for(20s);
  EXPECT_GE(one().counters().peers_relayed, 1);
  std::uint64_t relayed = 0;
  for (TestNode* node : network_.ring()) relayed += node->pastry->counters().relayed;
  EXPECT_GT(relayed, 20);
}

TEST_F(RelaysTest, OnlyWhatASenderSaysItselfIsSentOn) {
  TestNode& relay = *network_.ring()[5];
  const auto probe = std::make_shared<const wire::Message>(wire::Probe{7});
  const auto sent_on = [&](PeerRef from, PeerRef to) {
    const std::uint64_t before = relay.pastry->counters().relayed;
    relay.pastry->receive(one().self(), wire::Relay{from, to, probe, {}});
    return relay.pastry->counters().relayed - before;
  };
  EXPECT_EQ(sent_on(one().self(), other().self()), 1);
  EXPECT_EQ(sent_on(network_.ring()[7]->pastry->self(), other().self()), 0);
  EXPECT_EQ(sent_on(one().self(), network_.ring()[16]->pastry->self()), 0);
  EXPECT_EQ(relay.pastry->counters().relay_drops, 2);
}

TEST_F(RelaysTest, WhatTheRelayItselfSaysIsNotRelayed) {
  const auto probe = std::make_shared<const wire::Message>(wire::Probe{7});
  other().receive(one().self(), wire::Relay{one().self(), other().self(), probe, {}});
  other().receive(one().self(),
                  wire::Relay{network_.ring()[7]->pastry->self(), other().self(), nullptr, {}});
  EXPECT_EQ(other().counters().relay_drops, 2);
}

}  // namespace
}  // namespace canopy::pastry
