// How much one peer may have of others: messages published, places as a child.
#include "scribe/access_test.hpp"

namespace canopy::scribe::test {
namespace {

TEST_F(AccessTest, APublisherThatIsTooFastIsSlowedDownAndThenTold) {
  net.config.scribe.publish_messages_max = 10;
  build(20);
  ASSERT_FALSE(net.join(others[0], prices));
  std::size_t accepted = 0;
  std::size_t refused = 0;
  Duration hint{};
  const MonoTime begun = net.now();
  for (int i = 0; i < 200; ++i) {
    net[others[1]].scribe().publish(prices, wire::AckMode::root, Buffer::copy_of("x"),
                                    [&](const PublishOutcome& outcome) {
                                      accepted += !outcome.error;
                                      refused += outcome.error == errc::limit;
                                      if (outcome.error) hint = outcome.retry_after;
                                    });
  }
  net.run_until([&] { return accepted + refused == 200; }, 20s);
  EXPECT_LE(net.now() - begun, net.config.scribe.request_timeout);
  EXPECT_GE(accepted, 10u);
  EXPECT_LE(accepted, 65u);
  EXPECT_EQ(accepted + refused, 200u);
  EXPECT_GT(hint, Duration::zero());
  EXPECT_EQ(net[others[0]].count("x"), accepted);
  EXPECT_GE(net[root()].scribe().counters().publishes_over_rate, refused);
}

TEST_F(AccessTest, WhatNobodyWaitsForDoesNotOvertakeALineThatIsFull) {
  net.config.scribe.publish_messages_max = 10;
  net.config.scribe.pending_publishes_max = 40;
  build(20);
  ASSERT_FALSE(net.join(others[0], prices));
  std::size_t full = 0;
  const auto count = [&full](const PublishOutcome& outcome) {
    full += outcome.error == errc::queue_full;
  };
  for (int i = 0; i < 40; ++i) {
    net[others[1]].scribe().publish(prices, wire::AckMode::root, Buffer::copy_of("x"), count);
  }
  net.run_for(300ms);  // the root has said that they are too many
  for (int i = 0; i < 20; ++i) {
    net[others[1]].scribe().publish(prices, wire::AckMode::root, Buffer::copy_of("x"), count);
  }
  net.run_for(1ms);  // they are told
  ASSERT_GT(full, 0u);
  const std::size_t before = full;
  net[others[1]].scribe().publish(prices, wire::AckMode::none, Buffer::copy_of("late"), count);
  net.run_for(100ms);
  EXPECT_EQ(full, before + 1);
  EXPECT_EQ(net[others[0]].count("late"), 0u);
}

TEST_F(AccessTest, WhatTheRootHasCostsItsPublisherNoMoreHoweverOftenItAsks) {
  net.config.scribe.publish_messages_max = 1;
  build(20);
  ASSERT_FALSE(net.join(others[0], prices));
  net.hang(others[0]);
  const PublishOutcome outcome = net.publish(others[1], prices, "x", wire::AckMode::members, 6s);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(net[root()].scribe().counters().publishes_over_rate, 0u);
}

TEST_F(AccessTest, AnEarlyMessageOfAnOrderedGroupIsCountedOnce) {
  net.config.scribe.publish_messages_max = 2;
  build(20);
  ASSERT_FALSE(net.create(others[0], prices, wire::GroupMode::ordered));
  ASSERT_FALSE(net.join(others[0], prices));
  wire::Publish early;
  early.group = group;
  early.name = prices;
  early.id = {net.table().id(others[1]), 1, 2};
  early.origin = others[1];
  early.after = 1;
  early.body = Buffer::copy_of("second");
  for (int i = 0; i < 8; ++i) {
    net[root()].peer->receive(others[1], early);
    net.run_for(1ms);
  }
  wire::Publish first = early;
  first.id.sequence = 1;
  first.after = 0;
  first.body = Buffer::copy_of("first");
  net[root()].peer->receive(others[1], first);
  net.run_for(100ms);
  EXPECT_EQ(net[root()].scribe().counters().publishes_over_rate, 0u);
  EXPECT_EQ(net[others[0]].count("second"), 1u);
}

TEST_F(AccessTest, AnycastsAndRequestsAreCountedToo) {
  net.config.scribe.publish_messages_max = 5;
  build(20);
  ASSERT_FALSE(net.join(others[0], prices));
  const PeerRef sender = *std::ranges::find_if(others.begin() + 1, others.end(), [&](PeerRef ref) {
    return !net[ref].scribe().view(group);
  });
  std::size_t taken = 0;
  std::size_t refused = 0;
  for (int i = 0; i < 100; ++i) {
    net[sender].scribe().anycast(prices, Buffer::copy_of("x"), [&](const AnycastOutcome& outcome) {
      taken += !outcome.error;
      refused += outcome.error == errc::limit;
    });
  }
  net.run_until([&] { return taken + refused == 100; }, 20s);
  EXPECT_EQ(taken + refused, 100u);
  EXPECT_GE(taken, 5u);
  EXPECT_LE(taken, 35u) << "five at once, and five in each of five seconds";
  EXPECT_EQ(net[others[0]].anycasts.size(), taken);
  boost::system::error_code told;
  for (int i = 0; i < 20; ++i) {
    net[sender].scribe().request(prices, Buffer::copy_of("x"), {.within = 100ms},
                                 [&](const RequestOutcome& outcome) { told = outcome.error; });
  }
  net.run_for(1s);
  EXPECT_EQ(told, errc::limit);
}

// Whom one peer has no room for asks others at once.
TEST_F(AccessTest, AJoinThatIsRefusedForWantOfRoomGoesElsewhereAtOnce) {
  net.config.scribe.child_entries_max = 2;
  build(40);
  const PeerRef keen = *std::ranges::find_if(
      others, [&](PeerRef ref) { return net[ref].peer->pastry().next_hop(group) == root(); });
  int joined = 0;
  for (int i = 0; joined < 3; ++i) {
    const wire::GroupName name{"g" + std::to_string(i), "ann"};
    const Id id = group_id(name, 160);
    if (net[keen].peer->pastry().next_hop(id) != root() || net.closest_live(id) != root()) continue;
    ++joined;
    const MonoTime asked = net.now();
    EXPECT_FALSE(net.join(keen, name)) << name.name;
    EXPECT_LE(net.now() - asked, 500ms);
  }
  EXPECT_GT(net[root()].scribe().counters().child_limits_met, 0u);
}

TEST_F(AccessTest, WhereNobodyHasRoomAJoinSaysSoSoon) {
  net.config.scribe.child_entries_max = 1;
  build(2);
  std::vector<wire::GroupName> names;
  for (int i = 0; names.size() < 2; ++i) {
    const wire::GroupName name{"g" + std::to_string(i), "ann"};
    if (net.closest_live(group_id(name, 160)) == refs[1]) names.push_back(name);
  }
  EXPECT_FALSE(net.join(refs[0], names[0]));
  const MonoTime asked = net.now();
  EXPECT_EQ(net.join(refs[0], names[1]), errc::limit);
  EXPECT_LE(net.now() - asked, 2s);
}

TEST_F(AccessTest, OnePeerGetsSoManyEntriesAsAChildAndNoMore) {
  net.config.scribe.child_entries_max = 3;
  net.config.scribe.join_timeout = 5s;
  build(2);
  std::size_t joined = 0;
  for (int i = 0; i < 20; ++i) {
    joined += !net.join(refs[0], {"g" + std::to_string(i), "ann"});
  }
  std::size_t mine = 0;
  for (const Id& id : net[refs[0]].scribe().groups()) {
    mine += net[refs[0]].scribe().view(id)->root;
  }
  EXPECT_EQ(joined, mine + 3);
  EXPECT_GT(net[refs[1]].scribe().counters().child_limits_met, 0u);
}

}  // namespace
}  // namespace canopy::scribe::test
