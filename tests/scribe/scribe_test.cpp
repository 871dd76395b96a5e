// Joining, publishing and leaving in a quiet network.
#include "scribe/scribe.hpp"

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/mini_net.hpp"

namespace canopy::scribe::test {
namespace {

class ScribeTest : public testing::Test {
 protected:
  void build(std::size_t count) {
    net.build(count);
    for (Box* box : net.live()) refs.push_back(box->ref);
  }
  PeerRef any() { return refs[net.random().below(refs.size())]; }
  void expect_sound() {
    net.run_for(200ms);
    EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  }

  MiniNet net{1};
  const Id group = group_id(prices, 160);
  std::vector<PeerRef> refs;
};

TEST_F(ScribeTest, APeerAloneIsItsOwnRoot) {
  build(1);
  EXPECT_FALSE(net.join(refs[0], prices));
  const PublishOutcome outcome = net.publish(refs[0], prices, "hello");
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.root, refs[0]);
  EXPECT_EQ(net[refs[0]].count("hello"), 1u);
}

TEST_F(ScribeTest, AMessageReachesEveryMemberOnce) {
  build(40);
  for (std::size_t i = 0; i < 30; ++i) ASSERT_FALSE(net.join(refs[i], prices));
  expect_sound();
  EXPECT_GE(net.forwarders(group).size() + net.members(group).size(), 30u);
  for (int i = 0; i < 10; ++i) {
    const std::string text = "m" + std::to_string(i);
    EXPECT_FALSE(net.publish(any(), prices, text).error);
    net.run_for(100ms);
    for (std::size_t member = 0; member < refs.size(); ++member) {
      EXPECT_EQ(net[refs[member]].count(text), member < 30 ? 1u : 0u);
    }
  }
}

TEST_F(ScribeTest, AMessagePublishedWhenAJoinCompletesReachesTheNewMember) {
  build(40);
  for (int round = 0; round < 300; ++round) {
    const wire::GroupName name{"g" + std::to_string(round % 10), "ann"};
    const PeerRef member = any();
    ASSERT_FALSE(net.join(member, name));
    const std::string text = "round " + std::to_string(round);
    net.shout(any(), name, text);
    ASSERT_TRUE(net.run_until([&] { return net[member].count(text) == 1; }, 1s)) << text;
    if (net.random().chance(0.6)) net[member].scribe().leave(group_id(name, 160));
  }
  net.run_for(1s);
  for (int i = 0; i < 10; ++i) {
    const Id id = group_id({"g" + std::to_string(i), "ann"}, 160);
    EXPECT_EQ(net.faults(id), std::vector<std::string>{});
  }
}

TEST_F(ScribeTest, ATreeOfLeaversDisappears) {
  build(40);
  for (const PeerRef ref : refs) ASSERT_FALSE(net.join(ref, prices));
  for (const PeerRef ref : refs) {
    net[ref].scribe().leave(group);
    net.run_for(50ms);
    EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  }
  for (const PeerRef ref : refs) {
    EXPECT_EQ(net[ref].scribe().view(group).has_value(), ref == net.closest_live(group));
  }
}

TEST_F(ScribeTest, ALeaveThatCrossesANewJoinDoesNotUndoIt) {
  build(30);
  for (int round = 0; round < 50; ++round) {
    const PeerRef member = any();
    ASSERT_FALSE(net.join(member, prices));
    net[member].scribe().leave(group);
    ASSERT_FALSE(net.join(member, prices));  // at once
    const std::string text = "round " + std::to_string(round);
    net.shout(any(), prices, text);
    EXPECT_TRUE(net.run_until([&] { return net[member].count(text) == 1; }, 1s));
    net[member].scribe().leave(group);
  }
}

TEST_F(ScribeTest, ASecondPublishGoesStraightToTheRoot) {
  build(40);
  ASSERT_FALSE(net.create(any(), prices));
  const PeerRef publisher = refs[0] == net.closest_live(group) ? refs[1] : refs[0];
  net.publish(publisher, prices, "first", wire::AckMode::none);
  net.run_for(100ms);
  const std::uint64_t before = net.sent("Publish");
  const PublishOutcome outcome = net.publish(publisher, prices, "second", wire::AckMode::none);
  net.run_for(100ms);
  EXPECT_EQ(net.sent("Publish"), before + 1);
  EXPECT_EQ(outcome.root, net.closest_live(group));
}

TEST_F(ScribeTest, PublishingToAnUnknownGroupIsAnErrorWhenAnAckIsAskedFor) {
  build(20);
  EXPECT_EQ(net.publish(any(), prices, "hello").error, errc::no_such_group);
  EXPECT_FALSE(net.publish(any(), prices, "hello", wire::AckMode::none).error);
  net.run_for(1s);
  EXPECT_EQ(net[net.closest_live(group)].scribe().counters().publishes_unknown_group, 2u);
  EXPECT_FALSE(net[net.closest_live(group)].scribe().view(group));
}

TEST_F(ScribeTest, ACreatedGroupTakesMessagesWithoutMembers) {
  build(20);
  EXPECT_FALSE(net.create(any(), prices));
  EXPECT_FALSE(net.create(any(), prices));  // it is the same one
  EXPECT_FALSE(net.publish(any(), prices, "hello").error);
}

TEST_F(ScribeTest, ItsRootAndReplicasKnowACreatedGroup) {
  build(40);
  ASSERT_FALSE(net.create(any(), prices));
  net.run_for(1s);
  EXPECT_EQ(net.sent("RootStatesAck"), 4u);
}

TEST_F(ScribeTest, StatesThatReplicasKeepAreNotSentAgain) {
  build(40);
  for (int i = 0; i < 20; ++i) ASSERT_FALSE(net.create(any(), {std::to_string(i), "ann"}));
  net.run_for(1s);
  const std::uint64_t sent = net.sent("RootStates");
  // Longer than replicas are kept that nobody speaks of.
  net.run_for(20min);
  EXPECT_EQ(net.sent("RootStates"), sent);
  EXPECT_GT(net.sent("ReplicaDigest"), 0u);
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(net.publish(any(), {std::to_string(i), "ann"}, "hello").error);
}

TEST_F(ScribeTest, AReplicaThatDiffersIsSentAgainOnce) {
  build(40);
  ASSERT_FALSE(net.create(any(), prices));
  net.run_for(1s);
  const PeerRef root = net.closest_live(group);
  // Another group's that the root knows nothing of.
  wire::RootStates strange;
  strange.nonce = 1;
  strange.states.emplace_back();
  strange.states.back().group = group_id({"strange", "ann"}, Id::bits);
  strange.states.back().name = {"strange", "ann"};
  strange.states.back().epoch = strange.states.back().version = 1;
  for (Box* box : net.live()) {
    if (box->ref != root) box->peer->receive(root, strange);
  }
  net.run_for(31s);
  const std::uint64_t mismatches = net[root].scribe().counters().replica_mismatches;
  EXPECT_EQ(mismatches, 4u);
  net.run_for(5min);
  EXPECT_EQ(net[root].scribe().counters().replica_mismatches, mismatches);
}

TEST_F(ScribeTest, WhoKnowsNoDigestsIsSentTheStates) {
  net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::ReplicaDigest>(message);
  };
  build(40);
  ASSERT_FALSE(net.create(any(), prices));
  net.run_for(1s);
  const std::uint64_t sent = net.sent("RootStates");
  net.run_for(65s);
  EXPECT_EQ(net.sent("RootStates"), sent + 4);
}

TEST_F(ScribeTest, BoundsAreTold) {
  net.config.scribe.body_max = 10;
  net.config.scribe.pending_publishes_max = 1;
  net.config.scribe.groups_max = 1;
  build(2);
  EXPECT_EQ(net.publish(refs[0], prices, "longer than that").error, errc::too_large);
  EXPECT_EQ(net.publish(refs[0], {"", "ann"}, "hello").error, errc::bad_name);
  EXPECT_EQ(net.join(refs[0], {"", "ann"}), errc::bad_name);
  EXPECT_EQ(net.create(refs[0], {std::string(300, 'x'), "ann"}), errc::bad_name);
  EXPECT_FALSE(net.join(refs[0], prices));
  EXPECT_EQ(net.join(refs[0], {"news", "ann"}), errc::limit);
}

// In a short id space two names meet soon.
std::pair<std::string, std::string> two_names_of_one_id(unsigned id_bits) {
  std::map<Id, std::string> seen;
  for (int i = 0;; ++i) {
    const std::string name = "group-" + std::to_string(i);
    const auto [entry, fresh] = seen.try_emplace(group_id({name, ""}, id_bits), name);
    if (!fresh) return {entry->second, name};
  }
}

TEST_F(ScribeTest, ARootThatWasStoppedCanLoseItsGroupToAnotherOfTheSameId) {
  net.config.pastry.id_bits = 8;
  net.config.pastry.b = 2;
  const auto [one, other] = two_names_of_one_id(8);
  build(8);
  EXPECT_FALSE(net.join(refs[0], {one, ""}));
  const Id shared = group_id({one, ""}, 8);
  Box& root = net[net.roots(shared).front()];
  net.hang(root.ref);
  net.run_for(2s);
  net.wake_up(root.ref);
  const PeerRef from = root.ref == refs[0] ? refs[1] : refs[0];
  const wire::GroupState state{shared, {other, ""}, wire::GroupMode::best_effort, 1000, 1};
  root.peer->receive(from, wire::RootStates{1, true, {state}});
  ASSERT_TRUE(root.scribe().view(shared));
  EXPECT_EQ(root.scribe().view(shared)->name.name, other);
}

TEST_F(ScribeTest, OnlyOneOfTwoNamesWithTheSameIdIsServed) {
  net.config.pastry.id_bits = 8;
  net.config.pastry.b = 2;
  const auto [one, other] = two_names_of_one_id(8);
  build(8);
  refs.erase(std::unique(refs.begin(), refs.end()), refs.end());
  EXPECT_FALSE(net.join(refs[0], {one, ""}));
  EXPECT_EQ(net.join(refs[1], {other, ""}), errc::name_conflict);
  EXPECT_EQ(net.join(refs[0], {other, ""}), errc::name_conflict);
  EXPECT_EQ(net.create(refs[2], {other, ""}), errc::name_conflict);
  EXPECT_EQ(net.publish(refs[3], {other, ""}, "hello").error, errc::name_conflict);
  EXPECT_FALSE(net.publish(refs[4], {one, ""}, "hello").error);
  net.run_for(1s);
  EXPECT_EQ(net[refs[0]].count("hello"), 1u);
  EXPECT_FALSE(net[refs[1]].scribe().view(group_id({one, ""}, 8)).has_value() &&
               net[refs[1]].scribe().view(group_id({one, ""}, 8))->member);
}

TEST_F(ScribeTest, ARootForgetsAnEmptyGroupThatNobodyCreated) {
  net.config.scribe.empty_group_expiry = 60s;
  build(20);
  const PeerRef root = net.closest_live(group);
  const PeerRef member = refs[0] == root ? refs[1] : refs[0];
  ASSERT_FALSE(net.join(member, prices));
  net[member].scribe().leave(group);
  net.run_for(1s);
  EXPECT_TRUE(net[root].scribe().view(group));
  net.run_for(5min);
  EXPECT_FALSE(net[root].scribe().view(group));

  ASSERT_FALSE(net.create(member, prices));
  net.run_for(5min);
  EXPECT_TRUE(net[root].scribe().view(group));
}

TEST_F(ScribeTest, ATreeCanBeLookedAtNodeByNode) {
  build(40);
  for (std::size_t i = 0; i < 20; ++i) ASSERT_FALSE(net.join(refs[i], prices));
  std::size_t seen = 0;
  std::vector<PeerRef> to_see{PeerRef{}};  // first the root, wherever it is
  while (!to_see.empty()) {
    const PeerRef at = to_see.back();
    to_see.pop_back();
    bool done = false;
    net[refs[30]].scribe().tree(group, at, {}, [&](auto error, const wire::TreeReply& reply) {
      EXPECT_FALSE(error);
      EXPECT_TRUE(reply.in_tree);
      EXPECT_EQ(reply.root, !at);
      if (reply.member) ++seen;
      to_see.insert(to_see.end(), reply.children.begin(), reply.children.end());
      done = true;
    });
    ASSERT_TRUE(net.run_until([&] { return done; }, 1s));
  }
  EXPECT_EQ(seen, 20u);
}

TEST_F(ScribeTest, TreesOfUnknownGroupsAndDeadPeersAreErrors) {
  build(20);
  boost::system::error_code result;
  bool done = false;
  const auto note = [&](boost::system::error_code error, const wire::TreeReply&) {
    result = error;
    done = true;
  };
  net[refs[0]].scribe().tree(group, {}, {}, note);
  ASSERT_TRUE(net.run_until([&] { return done; }, 10s));
  EXPECT_EQ(result, errc::no_such_group);
  net.kill(refs[1]);
  done = false;
  net[refs[0]].scribe().tree(group, refs[1], {}, note);
  ASSERT_TRUE(net.run_until([&] { return done; }, 10s));
  EXPECT_TRUE(result == errc::unreachable || result == errc::timed_out);
}

TEST_F(ScribeTest, AnAnycastReachesOneMember) {
  build(40);
  for (std::size_t i = 0; i < 20; ++i) ASSERT_FALSE(net.join(refs[i], prices));
  for (int i = 0; i < 20; ++i) {
    const std::string text = "a" + std::to_string(i);
    const auto [error, member] = net.anycast(any(), prices, text);
    EXPECT_FALSE(error);
    net.run_for(100ms);
    std::size_t takers = 0;
    for (const PeerRef ref : refs) {
      const auto& taken = net[ref].anycasts;
      takers += static_cast<std::size_t>(std::ranges::count(taken, text));
    }
    EXPECT_EQ(takers, 1u);
    EXPECT_EQ(net[member].anycasts.back(), text);
  }
}

TEST_F(ScribeTest, AnAnycastFindsTheOneWhoIsWilling) {
  build(40);
  for (std::size_t i = 0; i < 20; ++i) {
    ASSERT_FALSE(net.join(refs[i], prices));
    net[refs[i]].willing = i == 13;
  }
  const auto [error, member] = net.anycast(refs[30], prices, "hello");
  EXPECT_FALSE(error);
  EXPECT_EQ(member, refs[13]);
  net[refs[13]].willing = false;
  EXPECT_EQ(net.anycast(refs[30], prices, "hello").first, errc::no_member);
  EXPECT_EQ(net.anycast(refs[30], {"news", "ann"}, "hello").first, errc::no_member);
}

TEST_F(ScribeTest, ManyGroupsShareTheirHeartbeats) {
  net.config.scribe.path_collapse = false;  // trees at rest
  build(20);
  for (int i = 0; i < 100; ++i) {
    const wire::GroupName name{"g" + std::to_string(i), ""};
    ASSERT_FALSE(net.join(any(), name));
    ASSERT_FALSE(net.join(any(), name));
  }
  const std::uint64_t before = net.sent("TreeHeartbeat");
  net.run_for(10s);
  // No more than one per neighbour, direction and second.
  EXPECT_LE(net.sent("TreeHeartbeat") - before, 20u * 19u * 12u);
  std::uint64_t mismatches = 0;
  for (Box* box : net.live()) mismatches += box->scribe().counters().set_mismatches;
  EXPECT_EQ(mismatches, 0u);
}

TEST_F(ScribeTest, EveryHandleInUseIsCollected) {
  build(20);
  for (const PeerRef ref : refs) ASSERT_FALSE(net.join(ref, prices));
  net.publish(any(), prices, "hello");
  for (Box* box : net.live()) {
    std::vector<PeerRef> in_use;
    box->scribe().collect_peers(in_use);
    const auto view = box->scribe().view(group);
    ASSERT_TRUE(view);
    for (const PeerRef child : view->children) {
      EXPECT_NE(std::ranges::find(in_use, child), in_use.end());
    }
    if (view->parent) {
      EXPECT_NE(std::ranges::find(in_use, view->parent), in_use.end());
    }
  }
}

}  // namespace
}  // namespace canopy::scribe::test
