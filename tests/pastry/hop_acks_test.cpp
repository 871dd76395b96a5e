#include "pastry/hop_acks.hpp"

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"

namespace canopy::pastry::test {
namespace {

wire::Routed message_to(std::string_view key) {
  wire::Routed message;
  message.key = *Id::from_hex(key);
  message.body = std::make_shared<const wire::RoutedBody>(wire::OpaqueBody{});
  return message;
}

class HopAcksTest : public ::testing::Test, protected Part {
 protected:
  std::uint32_t add(PeerRef to) {
    wire::Routed message = message_to("9000");
    acks.add(to, {}, message);
    return message.hop_id;
  }

  HopAcks acks{state};
  const PeerRef hop = env.peer("90");
  const PeerRef other = env.peer("91");
};

TEST_F(HopAcksTest, EachHopHasANumberOfItsOwn) {
  const std::uint32_t first = add(hop);
  const std::uint32_t second = add(hop);
  EXPECT_NE(first, 0U);
  EXPECT_NE(first, second);
}

TEST_F(HopAcksTest, AnAckEndsTheWaitAndGivesTheRoundTrip) {
  const std::uint32_t id = add(hop);
  env.time += 20ms;
  EXPECT_EQ(acks.acked(hop, id), Duration(20ms));
  EXPECT_EQ(acks.size(), 0U);
  EXPECT_EQ(acks.deadline(), never);
  EXPECT_FALSE(acks.acked(hop, id)) << "twice is once too many";
}

TEST_F(HopAcksTest, SomebodyElsesAckIsNone) {
  const std::uint32_t id = add(hop);
  EXPECT_FALSE(acks.acked(other, id));
  EXPECT_EQ(acks.size(), 1U);
}

TEST_F(HopAcksTest, TheTimeoutFollowsTheRoundTrip) {
  add(hop);
  EXPECT_EQ(acks.deadline(), env.time + config.hop_ack_timeout_max) << "of a peer never measured";
  state.proximity.sample(other, 40ms, env.time);
  add(other);
  EXPECT_EQ(acks.deadline(), env.time + 80ms);
  env.time += 80ms;
  const auto overdue = acks.take_overdue();
  ASSERT_EQ(overdue.size(), 1U);
  EXPECT_EQ(overdue[0].to, other);
  EXPECT_EQ(acks.size(), 1U);
}

TEST_F(HopAcksTest, ARepeatKeepsItsNumberAndWaitsLonger) {
  state.proximity.sample(hop, 40ms, env.time);
  const std::uint32_t id = add(hop);
  env.time += 80ms;
  acks.add_again(std::move(acks.take_overdue()[0]));
  EXPECT_EQ(acks.deadline(), env.time + 160ms);
  env.time += 10ms;
  EXPECT_FALSE(acks.acked(hop, id)) << "which of the two was acked is not known: no sample";
  EXPECT_EQ(acks.size(), 0U);
}

TEST_F(HopAcksTest, TheTimeoutNeverPassesTheCeiling) {
  state.proximity.sample(hop, 40ms, env.time);
  add(hop);
  for (int i = 0; i < 7; ++i) {
    env.time = acks.deadline();
    acks.add_again(std::move(acks.take_overdue()[0]));
  }
  EXPECT_EQ(acks.deadline(), env.time + config.hop_ack_timeout_max);
}

TEST_F(HopAcksTest, AnotherWayStartsWithAShortTimeoutButIsNoNewMessage) {
  state.proximity.sample(hop, 40ms, env.time);
  state.proximity.sample(other, 40ms, env.time);
  const MonoTime begun = env.time;
  const std::uint32_t id = add(hop);
  env.time = acks.deadline();
  acks.add_again(std::move(acks.take_overdue()[0]));
  env.time = acks.deadline();
  HopAcks::Pending pending = std::move(acks.take_overdue()[0]);
  acks.add_elsewhere(other, pending);
  EXPECT_NE(pending.message.hop_id, id);
  EXPECT_EQ(acks.deadline(), env.time + 80ms);
  env.time = acks.deadline();
  EXPECT_EQ(acks.take_overdue()[0].begun, begun);
}

TEST_F(HopAcksTest, GivesBackAllThatAwaitsAPeer) {
  add(hop);
  add(other);
  add(hop);
  EXPECT_EQ(acks.take(hop).size(), 2U);
  EXPECT_TRUE(acks.take(hop).empty());
  EXPECT_EQ(acks.size(), 1U);
}

TEST(HopAcks, AFullTableSendsWithoutAskingForAnAck) {
  Config config;
  config.pending_acks_max = 2;
  Part part{config};
  HopAcks acks{part.state};
  const PeerRef hop = part.env.peer("90");
  wire::Routed message = message_to("9000");
  for (int i = 0; i < 2; ++i) acks.add(hop, {}, message);
  acks.add(hop, {}, message);
  EXPECT_EQ(message.hop_id, 0U);
  EXPECT_EQ(part.state.counters.unacked_hops, 1U);
  EXPECT_EQ(acks.size(), 2U);
}

TEST_F(HopAcksTest, AfterASleepEveryTimeoutStartsAnew) {
  add(hop);
  env.time += 1h;
  acks.start_over();
  EXPECT_TRUE(acks.take_overdue().empty());
  EXPECT_EQ(acks.deadline(), env.time + config.hop_ack_timeout_max);
}

TEST(SeenHops, KnowsTheLastFewAgain) {
  SeenHops seen;
  EXPECT_TRUE(seen.first(PeerRef(1), 5));
  EXPECT_FALSE(seen.first(PeerRef(1), 5));
  EXPECT_TRUE(seen.first(PeerRef(2), 5)) << "another peer's number";
  for (std::uint32_t i = 6; i < 30; ++i) EXPECT_TRUE(seen.first(PeerRef(1), i));
  EXPECT_TRUE(seen.first(PeerRef(1), 5)) << "long forgotten";
}

}  // namespace
}  // namespace canopy::pastry::test
