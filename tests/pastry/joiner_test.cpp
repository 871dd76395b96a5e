#include "pastry/joiner.hpp"

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"

namespace canopy::pastry::test {
namespace {

using Step = Joiner::Step;
using wire::StatePart;

class JoinerTest : public ::testing::Test, protected Part {
 protected:
  JoinerTest() : Part(Config::wan()) {}

  wire::StateRequest asked() const { return env.last<wire::StateRequest>(); }
  // The peer asked last answers, after this round trip.
  void reply(wire::Peers peers, Duration round_trip, int row = -1) {
    const wire::StateRequest request = asked();
    const PeerRef from = env.last_receiver<wire::StateRequest>();
    env.time += round_trip;
    wire::StateReply answer{request.nonce, request.part, request.row, 0, std::move(peers)};
    if (row >= 0) answer.row = static_cast<std::uint8_t>(row);
    EXPECT_TRUE(joiner.on_state_reply(from, answer));
  }
  std::uint32_t nonce_of_probe(PeerRef peer) const {
    for (const auto& [to, probe] : env.all<wire::Probe>()) {
      if (to == peer) return probe.nonce;
    }
    return 0;
  }
  bool probe_reply(PeerRef from) { return joiner.on_probe_reply(from, {nonce_of_probe(from)}); }
  void pass(Duration span) {
    env.time += span;
    joiner.tick();
  }
  // Through the search with a contact that knows nobody, to the JOIN.
  void reach_request() {
    joiner.start();
    reply({}, 20ms);
    reply({}, 20ms, 0);
    reply({}, 20ms);
    ASSERT_EQ(joiner.step(), Step::requesting);
  }
  wire::JoinRequest request() const {
    return std::get<wire::JoinRequest>(*env.last<wire::Routed>().body);
  }

  const PeerRef contact = env.peer("10");
  const PeerRef near = env.peer("20");
  const PeerRef far = env.peer("30");
  Joiner joiner{state, {contact}};
};

TEST_F(JoinerTest, TellsOnceThatItsContactIsNoMember) {
  joiner.start();
  for (int attempt = 0; attempt < 3; ++attempt) {
    ASSERT_TRUE(joiner.on_deferred(contact, {asked().nonce, 100}));
    EXPECT_EQ(joiner.take_stall().has_value(), attempt == 0);
    pass(1s);
  }
}

TEST_F(JoinerTest, AsksLeafSetRowsAndNeighbourhoodThenRoutesItsJoin) {
  joiner.start();
  EXPECT_EQ(asked().part, StatePart::leaf_set);
  reply({}, 20ms);
  EXPECT_EQ(asked().part, StatePart::row);
  reply({}, 20ms, 1);
  EXPECT_EQ(asked().part, StatePart::row);
  EXPECT_EQ(asked().row, 0) << "from the deepest row upwards";
  reply({}, 20ms);
  EXPECT_EQ(asked().part, StatePart::neighborhood);
  reply({}, 20ms);
  EXPECT_EQ(joiner.step(), Step::requesting);
  EXPECT_EQ(env.last_receiver<wire::Routed>(), contact);
  EXPECT_EQ(env.last<wire::Routed>().key, state.self_id);
  EXPECT_EQ(request().joiner, state.self);
}

TEST_F(JoinerTest, TheFirstToAnswerIsTheNearestAndIsAskedNext) {
  joiner.start();
  reply({near, far}, 50ms);
  EXPECT_EQ(joiner.step(), Step::measuring);
  env.time += 10ms;
  EXPECT_TRUE(probe_reply(near));
  EXPECT_EQ(joiner.step(), Step::asking);
  EXPECT_EQ(env.last_receiver<wire::StateRequest>(), near);
  env.time += 10ms;
  EXPECT_TRUE(probe_reply(far)) << "late, but its distance is kept";
  EXPECT_EQ(joiner.measured().size(), 3U);
  EXPECT_EQ(env.last_receiver<wire::StateRequest>(), near);
}

TEST_F(JoinerTest, WhoeverIsNearestWhenTheSearchEndsCarriesTheJoin) {
  joiner.start();
  reply({}, 20ms);
  reply({}, 20ms, 0);
  EXPECT_EQ(asked().part, StatePart::neighborhood);
  reply({near}, 20ms);
  env.time += 10ms;
  EXPECT_TRUE(probe_reply(near));
  EXPECT_EQ(joiner.step(), Step::requesting);
  EXPECT_EQ(env.last_receiver<wire::Routed>(), near);
}

TEST_F(JoinerTest, NobodyWaitsForPeersThatAreFartherThanTheNearestKnown) {
  joiner.start();
  reply({near, far}, 50ms);
  pass(49ms);
  EXPECT_EQ(joiner.step(), Step::measuring);
  pass(1ms);
  EXPECT_EQ(joiner.step(), Step::asking);
  EXPECT_EQ(env.last_receiver<wire::StateRequest>(), contact);
}

TEST_F(JoinerTest, AContactThatIsNearEnoughSparesTheSearch) {
  Part lan{Config::lan()};
  Joiner quick{lan.state, {lan.env.peer("10")}};
  quick.start();
  lan.env.time += 200us;
  quick.on_state_reply(
      lan.env.peer("10"),
      {lan.env.last<wire::StateRequest>().nonce, StatePart::leaf_set, 0, 0, {lan.env.peer("20")}});
  EXPECT_EQ(quick.step(), Step::requesting);
  EXPECT_TRUE(lan.env.all<wire::Probe>().empty());
}

TEST_F(JoinerTest, ASilentContactIsAskedOnceMoreThenPassedOver) {
  joiner.add_contact(near);
  joiner.start();
  pass(config.hop_ack_timeout_max);
  EXPECT_EQ(env.all<wire::StateRequest>().size(), 2U);
  EXPECT_EQ(env.last_receiver<wire::StateRequest>(), contact);
  pass(config.hop_ack_timeout_max);
  EXPECT_EQ(env.last_receiver<wire::StateRequest>(), near);
}

TEST_F(JoinerTest, AnUnreachableContactIsPassedOverAtOnceAndTriedAgainAfterARest) {
  joiner.start();
  joiner.unreachable(contact);
  EXPECT_EQ(joiner.step(), Step::resting);
  EXPECT_TRUE(joiner.take_stall());
  EXPECT_FALSE(joiner.take_stall()) << "told once";
  env.time = joiner.deadline();
  joiner.tick();
  EXPECT_EQ(env.all<wire::StateRequest>().size(), 2U);
}

TEST_F(JoinerTest, RestsGrowLonger) {
  joiner.start();
  Duration total{};
  Duration last{};
  for (int i = 0; i < 6; ++i) {
    joiner.unreachable(contact);
    last = joiner.deadline() - env.time;
    total += last;
    env.time = joiner.deadline();
    joiner.tick();
  }
  EXPECT_GT(last, config.join_retry_interval / 3);
  EXPECT_LT(last, config.join_retry_interval * 2);
}

TEST_F(JoinerTest, AContactThatIsNoMemberYetIsAskedAgain) {
  joiner.start();
  EXPECT_TRUE(joiner.on_deferred(contact, {asked().nonce, 100}));
  EXPECT_EQ(joiner.step(), Step::resting);
  EXPECT_LE(joiner.deadline(), env.time + 150ms);
  env.time = joiner.deadline();
  joiner.tick();
  EXPECT_EQ(joiner.step(), Step::asking);
}

TEST_F(JoinerTest, AnIdThatIsTakenIsSaidSo) {
  reach_request();
  EXPECT_TRUE(joiner.on_deferred(far, {request().nonce, 0}));
  EXPECT_NE(joiner.take_stall()->find("another live peer has this node's id"),
            std::string_view::npos);
}

TEST_F(JoinerTest, AJoinWithoutReceiptIsSentAgainWithTheSameNonce) {
  reach_request();
  const std::uint32_t nonce = request().nonce;
  pass(config.hop_ack_timeout_max);
  EXPECT_EQ(env.all<wire::Routed>().size(), 2U);
  EXPECT_EQ(request().nonce, nonce);
}

TEST_F(JoinerTest, AReceivedJoinWithoutReplyIsRepeatedUnderANewNonce) {
  reach_request();
  const std::uint32_t nonce = request().nonce;
  EXPECT_TRUE(joiner.on_hop_ack(contact, env.last<wire::Routed>().hop_id));
  pass(config.hop_ack_timeout_max);
  EXPECT_EQ(env.all<wire::Routed>().size(), 1U);
  env.time = joiner.deadline();
  joiner.tick();
  EXPECT_EQ(env.all<wire::Routed>().size(), 2U);
  EXPECT_NE(request().nonce, nonce);
}

TEST_F(JoinerTest, ALateReplyToAnEarlierNonceIsAsGood) {
  reach_request();
  const std::uint32_t nonce = request().nonce;
  joiner.on_hop_ack(contact, nonce);
  env.time = joiner.deadline();
  joiner.tick();
  EXPECT_TRUE(joiner.on_join_reply(far, {nonce, {near}, {{0, {near, contact}}}}));
  EXPECT_EQ(joiner.step(), Step::probing);
  EXPECT_EQ(joiner.helper(), far);
  EXPECT_EQ(joiner.helper_nonce(), nonce);
  EXPECT_EQ(joiner.candidates().size(), 2U);
  EXPECT_FALSE(joiner.on_join_reply(near, {request().nonce, {}, {}})) << "one help is enough";
}

TEST_F(JoinerTest, AReplyToNobodysNonceIsIgnored) {
  reach_request();
  EXPECT_FALSE(joiner.on_join_reply(far, {request().nonce + 77, {}, {}}));
  EXPECT_EQ(joiner.step(), Step::requesting);
}

TEST_F(JoinerTest, ADeferredJoinIsRoutedAgainLater) {
  reach_request();
  joiner.on_hop_ack(contact, request().nonce);
  EXPECT_TRUE(joiner.on_deferred(far, {request().nonce, 500}));
  env.time = joiner.deadline();
  joiner.tick();
  EXPECT_EQ(joiner.step(), Step::requesting);
  EXPECT_EQ(env.all<wire::Routed>().size(), 2U);
}

TEST_F(JoinerTest, AJoinThatIsDeferredAgainAndAgainGoesByAnotherContact) {
  joiner.add_contact(near);
  reach_request();
  int deferrals = 0;
  while (joiner.step() != Step::asking) {
    ASSERT_TRUE(joiner.on_deferred(contact, {request().nonce, 100}));
    ASSERT_LT(++deferrals, 20);
    pass(200ms);
  }
  EXPECT_EQ(env.last_receiver<wire::StateRequest>(), near);
}

TEST_F(JoinerTest, IfTheNearestDiesTheNextNearestCarriesTheJoin) {
  joiner.start();
  reply({near}, 50ms);
  env.time += 10ms;
  probe_reply(near);
  joiner.unreachable(near);
  EXPECT_EQ(joiner.step(), Step::requesting);
  EXPECT_EQ(env.last_receiver<wire::Routed>(), contact);
}

TEST_F(JoinerTest, ItsOwnAddressIsNoContact) {
  Joiner alone{state, {state.self}};
  alone.start();
  EXPECT_EQ(alone.step(), Step::resting);
  EXPECT_TRUE(alone.take_stall());
  alone.add_contact(contact);
  EXPECT_EQ(alone.step(), Step::asking) << "the first contact ends the rest";
}

TEST_F(JoinerTest, ARowNumberOutOfRangeIsCutToTheLast) {
  joiner.start();
  reply({}, 20ms);
  reply({}, 20ms, 255);
  EXPECT_EQ(asked().row, 38) << "160 bits of 4 have rows 0 to 39";
}

}  // namespace
}  // namespace canopy::pastry::test
