#include "pastry/leases.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"
#include "pastry/takeovers.hpp"

namespace canopy::pastry::test {
namespace {

class LeasesTest : public ::testing::Test, protected Part {
 protected:
  LeasesTest() { state.active = true; }

  std::size_t heartbeats() const { return env.all<wire::Heartbeat>().size(); }
  void pass(Duration span) {
    env.time += span;
    leases.tick();
  }
  std::uint32_t asked(PeerRef peer) const {
    std::uint32_t number = 0;
    for (const auto& [to, heartbeat] : env.all<wire::Heartbeat>()) {
      if (to == peer && heartbeat.number != 0) number = heartbeat.number;
    }
    return number;
  }
  void grant(PeerRef peer, std::uint32_t lease_ms = 2000) {
    leases.on_heartbeat(peer, {0, asked(peer), lease_ms});
  }
  // What was sent since it woke.
  void answer_awake(PeerRef peer) {
    leases.answered(peer, env.time);
    leases.told_leaves(peer, state.next_nonce());
  }
  void grant_both() {
    leases.tick();
    grant(left);
    grant(right);
  }

  Prober prober{state};
  Leases leases{state, prober};
  const PeerRef left = leaf("70");
  const PeerRef right = leaf("90");
};

TEST_F(LeasesTest, AreAskedOfBothNeighbours) {
  EXPECT_FALSE(leases.held());
  leases.tick();
  EXPECT_EQ(heartbeats(), 2U);
  grant(left);
  EXPECT_FALSE(leases.held());
  grant(right);
  EXPECT_TRUE(leases.held());
}

TEST_F(LeasesTest, CountFromTheQuestion) {
  leases.tick();
  env.time += 600ms;
  grant(left);
  grant(right);
  env.time += config.lease - 600ms - 1us;
  EXPECT_TRUE(leases.held());
  env.time += 1us;
  EXPECT_FALSE(leases.held());
}

TEST_F(LeasesTest, LastAsLongAsTheNeighbourGrants) {
  leases.tick();
  grant(left, 500);
  grant(right, 60'000);
  env.time += 499ms;
  EXPECT_TRUE(leases.held());
  env.time += 1ms;
  EXPECT_FALSE(leases.held()) << "the left one's has run out";
}

TEST_F(LeasesTest, AnswersToOlderQuestionsRenewNothing) {
  leases.tick();
  const std::uint32_t number = asked(left);
  grant_both();
  env.time += config.lease;
  leases.on_heartbeat(left, {0, number, 2000});
  leases.on_heartbeat(left, {0, 0, 2000});
  EXPECT_FALSE(leases.held());
}

TEST_F(LeasesTest, TheLeftNeighbourIsAskedRegularlyTheRightOneIfItDoesNotAsk) {
  grant_both();
  pass(config.heartbeat_interval - 1ms);
  EXPECT_EQ(heartbeats(), 2U);
  pass(1ms);
  EXPECT_EQ(heartbeats(), 3U);
  EXPECT_EQ(env.last_receiver<wire::Heartbeat>(), left);
  grant(left);
  pass(config.probe_timeout);
  EXPECT_EQ(env.last_receiver<wire::Heartbeat>(), right);
}

TEST_F(LeasesTest, WhoIsAskedGrantsAndAsksInTurn) {
  grant_both();
  env.time += config.heartbeat_interval;
  leases.on_heartbeat(right, {77, 0, 0});
  const auto answer = env.last<wire::Heartbeat>();
  EXPECT_EQ(env.last_receiver<wire::Heartbeat>(), right);
  EXPECT_EQ(answer.echo, 77U);
  EXPECT_EQ(answer.lease_ms, 2000U);
  EXPECT_NE(answer.number, 0U);
  grant(right);
  const std::size_t before = heartbeats();
  leases.on_heartbeat(right, {78, 0, 0});
  EXPECT_EQ(heartbeats(), before + 1);
  EXPECT_EQ(env.last<wire::Heartbeat>().number, 0U) << "its own lease is fresh";
}

TEST_F(LeasesTest, TwoThatAskEachOtherAtOnceComeToAnEnd) {
  leases.tick();
  const std::uint32_t number = asked(left);
  leases.on_heartbeat(left, {77, 0, 0});
  EXPECT_EQ(env.last<wire::Heartbeat>().number, 0U);
  leases.on_heartbeat(left, {0, number, 2000});
  grant(right);
  EXPECT_TRUE(leases.held());
}

TEST_F(LeasesTest, NeighboursThatStayAtOddsCompareTheirLeaves) {
  const std::uint32_t other = state.ring_mark(left) + 1;
  grant_both();
  leases.on_heartbeat(left, {0, 0, 0, other});
  EXPECT_TRUE(env.all<wire::LeafProbe>().empty()) << "news may be on its way";
  env.time += config.heartbeat_interval / 2;
  leases.on_heartbeat(left, {0, 0, 0, state.ring_mark(left)});
  EXPECT_EQ(state.agreeing, left);
  leases.on_heartbeat(left, {0, 0, 0, other});
  EXPECT_TRUE(env.all<wire::LeafProbe>().empty());
  env.time += config.heartbeat_interval / 2;
  leases.on_heartbeat(left, {0, 0, 0, 0});
  EXPECT_TRUE(env.all<wire::LeafProbe>().empty()) << "a peer of an earlier version says nothing";
  leases.on_heartbeat(left, {0, 0, 0, other});
  ASSERT_EQ(env.all<wire::LeafProbe>().size(), 1U);
  EXPECT_EQ(env.last_receiver<wire::LeafProbe>(), left);
}

TEST(RingMark, NeighboursThatKnowTheSameNodesHaveTheSame) {
  Config config;
  config.leaf_set_size = 4;
  for (const std::size_t nodes : {2U, 3U, 4U, 5U, 6U, 7U, 12U}) {
    Recorder env;
    std::vector<PeerRef> ring;
    for (std::size_t i = 0; i < nodes; ++i) {
      ring.push_back(env.peer(std::string(1, "0123456789ab"[i]) + "7"));
    }
    NodeState one{config, ring[0], env};
    NodeState next{config, ring[1], env};
    for (const PeerRef peer : ring) {
      one.leaves.insert(peer, one.id(peer));
      next.leaves.insert(peer, next.id(peer));
    }
    EXPECT_EQ(one.ring_mark(ring[1]), next.ring_mark(ring[0])) << nodes;
    one.leaves.remove(one.leaves.larger(0).peer);
    EXPECT_NE(one.ring_mark(ring[1]), next.ring_mark(ring[0])) << nodes;
  }
}

TEST_F(LeasesTest, StrangersAreGrantedNothing) {
  leases.on_heartbeat(env.peer("33"), {77, 0, 0});
  EXPECT_EQ(heartbeats(), 0U);
}

TEST_F(LeasesTest, WhoDoesNotAnswerIsProbed) {
  grant_both();
  pass(config.heartbeat_interval);
  EXPECT_FALSE(prober.pending(left, goal::life));
  pass(4 * config.probe_timeout);
  EXPECT_TRUE(prober.pending(left, goal::life));
}

TEST_F(LeasesTest, AProbeWithoutAnswerIsFollowedByAnotherQuestion) {
  leases.tick();
  pass(4 * config.probe_timeout);
  ASSERT_TRUE(prober.pending(left, goal::leaves));
  const std::uint32_t before = asked(left);
  prober.cancel(left);
  leases.tick();
  EXPECT_NE(asked(left), before);
}

TEST_F(LeasesTest, APeerThatEchoesNothingGrantsByItsAnswersToProbes) {
  leases.answered(left, env.time);
  leases.answered(right, env.time);
  EXPECT_TRUE(leases.held()) << "it is of an earlier version";
}

TEST_F(LeasesTest, AnAnsweredProbeOfLeavesRenews) {
  grant_both();
  env.time += config.lease - 1ms;
  leases.answered(left, env.time - 10ms);
  leases.answered(right, env.time - 10ms);
  env.time += 1s;
  EXPECT_TRUE(leases.held());
}

TEST_F(LeasesTest, ANewNeighbourHasToGrantOne) {
  grant_both();
  const PeerRef nearer = leaf("78");
  EXPECT_FALSE(leases.held());
  EXPECT_LE(leases.deadline(), env.time);
  leases.tick();
  EXPECT_EQ(env.last_receiver<wire::Heartbeat>(), nearer);
  state.leaves.remove(nearer);
  EXPECT_FALSE(leases.held()) << "the one before is new again";
}

TEST_F(LeasesTest, WhoHadAnotherInBetweenHadItsLeasesFromThatOne) {
  grant_both();
  const MonoTime then = env.time;
  env.time += 1s;
  EXPECT_TRUE(leases.neighbor_since(left, then));
  const PeerRef between = leaf("78");
  EXPECT_FALSE(leases.neighbor_since(left, then));
  EXPECT_FALSE(leases.neighbor_since(between, then));
  env.time += 1s;
  state.leaves.remove(between);
  EXPECT_FALSE(leases.neighbor_since(left, then));
  EXPECT_TRUE(leases.neighbor_since(left, env.time));
}

TEST_F(LeasesTest, ANewcomerActsForNobodyYet) {
  grant_both();
  leases.met_newcomer(leaf("78"));
  EXPECT_TRUE(leases.held());
}

TEST_F(LeasesTest, TellOnceThatOneThatHadRunOutIsThereAgain) {
  grant_both();
  EXPECT_TRUE(leases.take_renewed());
  EXPECT_FALSE(leases.take_renewed());
  env.time += config.heartbeat_interval;
  leases.answered(left, env.time);
  EXPECT_FALSE(leases.take_renewed());
  env.time += config.lease;
  leases.answered(left, env.time);
  EXPECT_TRUE(leases.take_renewed());
}

TEST_F(LeasesTest, AfterASleepItAsksAnewAndBlamesNobody) {
  grant_both();
  pass(config.heartbeat_interval);
  env.time += 1h;
  leases.start_over();
  leases.tick();
  EXPECT_FALSE(leases.held());
  EXPECT_FALSE(prober.suspected(left));
  EXPECT_EQ(heartbeats(), 5U);
}

// Its neighbours may have slept as well: whoever acts for them all is further away.
TEST_F(LeasesTest, AfterASleepInWhichTheyRanOutAllLeavesAreHeardFrom) {
  const PeerRef far = leaf("60");
  const PeerRef lost = leaf("a0");
  grant_both();
  env.time += 5s;
  const std::uint32_t before = state.next_nonce();
  EXPECT_TRUE(leases.start_over());
  for (const PeerRef peer : {left, right}) answer_awake(peer);
  leases.told_leaves(far, before);
  state.leaves.remove(lost);
  leases.take_renewed();
  EXPECT_FALSE(leases.held()) << "what the far one has answered is from before";
  leases.told_leaves(far, state.next_nonce());
  EXPECT_TRUE(leases.take_renewed());
  EXPECT_TRUE(leases.held());
}

TEST_F(LeasesTest, AnotherSleepMeanwhileBeginsTheWaitAnew) {
  const PeerRef far = leaf("60");
  grant_both();
  env.time += 5s;
  EXPECT_TRUE(leases.start_over());
  for (const PeerRef peer : {left, right}) answer_awake(peer);
  env.time += 1s;
  EXPECT_TRUE(leases.start_over()) << "although both leases are valid";
  for (const PeerRef peer : {left, right}) answer_awake(peer);
  env.time += 1s;
  leases.take_renewed();
  EXPECT_FALSE(leases.held());
  answer_awake(far);
  EXPECT_TRUE(leases.held());
}

TEST_F(LeasesTest, ALeafThatStaysSilentAfterASleepIsNotWaitedForForEver) {
  leaf("60");
  grant_both();
  env.time += 5s;
  EXPECT_TRUE(leases.start_over());
  for (const PeerRef peer : {left, right}) answer_awake(peer);
  const MonoTime until = leases.deadline();
  EXPECT_LE(until, env.time + 5s);
  pass(4 * config.probe_timeout);
  for (const PeerRef peer : {left, right}) answer_awake(peer);
  EXPECT_TRUE(leases.take_renewed());
  EXPECT_TRUE(leases.held());
}

TEST_F(LeasesTest, AShortSleepLeavesThemAsTheyAre) {
  grant_both();
  env.time += 1s;
  EXPECT_FALSE(leases.start_over());
  EXPECT_TRUE(leases.held());
}

TEST(Leases, AloneNeedsNone) {
  Part part;
  Prober prober{part.state};
  Leases leases{part.state, prober};
  EXPECT_TRUE(leases.held());
  EXPECT_EQ(leases.deadline(), never);
}

TEST(Leases, OneOtherIsBothNeighbours) {
  Part part;
  part.state.active = true;
  Prober prober{part.state};
  Leases leases{part.state, prober};
  const PeerRef other = part.leaf("10");
  leases.tick();
  ASSERT_EQ(part.env.all<wire::Heartbeat>().size(), 1U);
  leases.on_heartbeat(other, {0, part.env.last<wire::Heartbeat>().number, 2000});
  EXPECT_TRUE(leases.held());
}

// --- Takeovers ---

Id id(const char* hex) { return *Id::from_hex(hex); }

TEST(Takeovers, KeysOfALostOwnerWaitForItsLease) {
  Takeovers takeovers;
  const MonoTime now{10s};
  takeovers.add(id("70"), now + 2s);
  EXPECT_TRUE(takeovers.wait_for(id("72"), id("80"), id("90"), now));
  EXPECT_FALSE(takeovers.wait_for(id("7a"), id("80"), id("90"), now)) << "its own all along";
  takeovers.add(id("70"), now + 2s, false);
  EXPECT_TRUE(takeovers.wait_for(id("7a"), id("80"), id("90"), now)) << "the owner does not know";
  EXPECT_FALSE(takeovers.wait_for(id("86"), id("80"), id("90"), now)) << "it leaves that to 90";
  EXPECT_FALSE(takeovers.wait_for(id("72"), id("80"), id("90"), now + 2s));
  EXPECT_EQ(takeovers.deadline(), now + 2s);
  EXPECT_FALSE(takeovers.expire(now + 1s));
  EXPECT_TRUE(takeovers.expire(now + 2s));
  EXPECT_TRUE(takeovers.empty());
  EXPECT_EQ(takeovers.deadline(), never);
}

TEST(Takeovers, EndWhenTheOwnerIsBack) {
  Takeovers takeovers;
  takeovers.add(id("70"), MonoTime{10s});
  takeovers.add(id("60"), MonoTime{11s});
  takeovers.remove(id("70"));
  EXPECT_FALSE(takeovers.wait_for(id("72"), id("80"), id("90"), MonoTime{1s}));
  EXPECT_TRUE(takeovers.wait_for(id("61"), id("80"), id("90"), MonoTime{1s}));
}

TEST(Takeovers, AreBounded) {
  Takeovers takeovers;
  for (int i = 0; i < 1000; ++i) {
    takeovers.add(Id::hash_of(std::to_string(i)), MonoTime{std::chrono::seconds(i)});
  }
  EXPECT_GT(takeovers.deadline(), MonoTime{900s});
}

}  // namespace
}  // namespace canopy::pastry::test
