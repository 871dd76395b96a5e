#include "pastry/prober.hpp"

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"

namespace canopy::pastry::test {
namespace {

class ProberTest : public ::testing::Test, protected Part {
 protected:
  std::vector<PeerRef> after(Duration span) {
    env.time += span;
    return prober.expire();
  }

  Prober prober{state};
  const PeerRef peer = env.peer("90");
};

TEST_F(ProberTest, AProbeForLeavesAsksForLeaves) {
  leaf("a0");
  prober.probe(peer, goal::leaves);
  const auto probe = env.last<wire::LeafProbe>();
  EXPECT_FALSE(probe.reply);
  EXPECT_EQ(probe.leaves, wire::Peers{env.peer("a0")});
  prober.probe(env.peer("91"), goal::distance);
  EXPECT_EQ(env.all<wire::Probe>().size(), 1U);
}

TEST_F(ProberTest, AnAnswerEndsItAndGivesTheRoundTrip) {
  prober.probe(peer, goal::distance);
  env.time += 30ms;
  const auto answer = prober.answered(peer, env.last<wire::Probe>().nonce, false);
  EXPECT_EQ(answer.goals, goal::distance);
  EXPECT_EQ(answer.round_trip, Duration(30ms));
  EXPECT_EQ(prober.outstanding(goal::distance), 0U);
  EXPECT_EQ(prober.deadline(), never);
}

TEST_F(ProberTest, SilenceIsRepeatedThenFails) {
  prober.probe(peer, goal::life);
  EXPECT_EQ(prober.deadline(), env.time + config.probe_timeout);
  EXPECT_TRUE(after(config.probe_timeout).empty());
  EXPECT_TRUE(after(config.probe_timeout).empty());
  EXPECT_EQ(env.all<wire::Probe>().size(), 3U);
  EXPECT_EQ(after(config.probe_timeout), std::vector<PeerRef>{peer});
  EXPECT_EQ(env.all<wire::Probe>().size(), 3U);
  EXPECT_FALSE(prober.suspected(peer));
}

TEST_F(ProberTest, ALateTurnLeavesTheOthersTheirTime) {
  const PeerRef neighbor = leaf("81");
  for (const char* other : {"70", "78", "88", "90"}) leaf(other);
  prober.probe(neighbor, goal::life);
  for (unsigned i = 0; i < config.probe_retries; ++i) {
    EXPECT_TRUE(after(config.probe_timeout).empty());
  }
  EXPECT_TRUE(env.all<wire::Relay>().empty());
  EXPECT_TRUE(after(config.probe_timeout).empty()) << "both are due";
  EXPECT_FALSE(env.all<wire::Relay>().empty());
  EXPECT_GT(prober.deadline(), env.time);
  EXPECT_EQ(after(config.probe_timeout), std::vector{neighbor});
}

TEST_F(ProberTest, WhoWasProbedByOthersInVainGetsFewerRepeats) {
  config.probe_retries = 5;
  prober.confirm(peer);
  EXPECT_TRUE(prober.suspected(peer));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(after(config.probe_timeout).empty());
  EXPECT_EQ(env.all<wire::Probe>().size(), 3U);
  EXPECT_EQ(after(config.probe_timeout), std::vector<PeerRef>{peer});
}

TEST_F(ProberTest, AnEntrysPresenceIsProbedWithoutSuspicionAndWithFewRepeats) {
  config.probe_retries = 5;
  const PeerRef silent = entry("a0");
  prober.probe(silent, goal::presence);
  EXPECT_FALSE(prober.suspected(silent));
  EXPECT_EQ(state.counters.suspicions, 0U);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(after(config.probe_timeout).empty());
  EXPECT_TRUE(prober.suspected(silent)) << "its first timeout has passed";
  EXPECT_EQ(after(config.probe_timeout), std::vector<PeerRef>{silent});
  prober.probe(silent, goal::presence);
  prober.heard(silent);
  EXPECT_FALSE(prober.pending(silent, goal::presence)) << "any message will do";
}

TEST_F(ProberTest, AnyMessageProvesLife) {
  prober.probe(peer, goal::life);
  EXPECT_TRUE(prober.suspected(peer));
  prober.heard(peer);
  EXPECT_FALSE(prober.suspected(peer));
  EXPECT_FALSE(prober.pending(peer, goal::life));
  EXPECT_TRUE(after(10s).empty());
}

TEST_F(ProberTest, APeerThatLivesButDoesNotAnswerIsAskedAnewAndNeverFails) {
  prober.probe(peer, goal::leaves);
  for (int i = 0; i < 20; ++i) {
    prober.heard(peer);
    EXPECT_TRUE(after(config.probe_timeout).empty());
  }
  EXPECT_FALSE(prober.pending(peer, goal::leaves)) << "in the end it is left alone";
  EXPECT_EQ(env.all<wire::LeafProbe>().size(), 9U);
}

TEST_F(ProberTest, ALateAnswerStillCounts) {
  prober.probe(peer, goal::distance);
  const std::uint32_t first = env.last<wire::Probe>().nonce;
  EXPECT_TRUE(after(config.probe_timeout).empty());
  EXPECT_TRUE(prober.suspected(peer)) << "one timeout has passed";
  env.time += 100ms;
  const auto answer = prober.answered(peer, first, false);
  EXPECT_EQ(answer.round_trip, config.probe_timeout + 100ms);
  EXPECT_FALSE(prober.pending(peer, goal::distance));
}

TEST_F(ProberTest, AnAnswerOfUnknownNonceProvesLifeButNoDistance) {
  prober.probe(peer, goal::distance | goal::life);
  const auto answer = prober.answered(peer, 12345, false);
  EXPECT_FALSE(answer.round_trip);
  EXPECT_TRUE(prober.pending(peer, goal::distance));
  EXPECT_FALSE(prober.suspected(peer));
}

TEST_F(ProberTest, GoalsAddUpInOneProbe) {
  prober.probe(peer, goal::life);
  prober.probe(peer, goal::life);
  EXPECT_EQ(env.sent.size(), 1U);
  prober.probe(peer, goal::leaves);
  EXPECT_EQ(env.all<wire::LeafProbe>().size(), 1U);
  prober.probe(peer, goal::leaves);
  EXPECT_EQ(env.sent.size(), 2U);
}

TEST_F(ProberTest, NewsIsSentAlthoughAProbeIsUnderWay) {
  prober.probe(peer, goal::leaves);
  state.departed.add(env.peer("a1"), false, env.time);
  prober.probe_with_news(peer);
  EXPECT_EQ(env.all<wire::LeafProbe>().size(), 2U);
  EXPECT_EQ(env.last<wire::LeafProbe>().failed, wire::Peers{env.peer("a1")});
}

TEST_F(ProberTest, AProcessThatSleptBlamesNobody) {
  prober.probe(peer, goal::life);
  after(config.probe_timeout);
  after(config.probe_timeout);
  env.time += 1h;
  prober.start_over();
  EXPECT_TRUE(after(config.probe_timeout).empty());
  EXPECT_TRUE(after(config.probe_timeout).empty());
  EXPECT_EQ(after(config.probe_timeout), std::vector<PeerRef>{peer});
}

class BoundedProberTest : public ProberTest {
 protected:
  // As many as a leaf set go at once, then four a second.
  BoundedProberTest() { config.probes_per_second = 4; }

  void use_up() {
    for (std::size_t i = 0; i < config.leaf_set_size; ++i) {
      prober.probe(env.peer("2" + std::to_string(10 + i)), goal::distance);
    }
    env.sent.clear();
  }
  // Whom the next probes go to, one after another.
  std::vector<PeerRef> next(std::size_t count) {
    std::vector<PeerRef> order;
    while (order.size() < count && prober.deadline() != never) {
      env.time = std::max(env.time, prober.deadline());
      env.sent.clear();
      prober.expire();
      for (const auto& [to, message] : env.sent) order.push_back(to);
    }
    return order;
  }
};

TEST_F(BoundedProberTest, SoManyProbesGoAtOnceAndASecond) {
  config.probe_timeout = 1h;
  for (int i = 0; i < 40; ++i) prober.probe(env.peer("2" + std::to_string(10 + i)), goal::distance);
  EXPECT_EQ(env.sent.size(), 16U);
  EXPECT_EQ(prober.outstanding(goal::distance), 40U);
  EXPECT_EQ(state.counters.probes_delayed, 24U);
  EXPECT_EQ(prober.deadline(), env.time + 250ms);
  for (int i = 0; i < 8; ++i) after(250ms);
  EXPECT_EQ(env.sent.size(), 24U);
  after(1h);
  EXPECT_LE(env.sent.size(), 24U + 16U) << "a pause is not saved up for ever";
}

TEST_F(BoundedProberTest, WhatConcernsTheLeafSetGoesFirstDistancesLast) {
  config.probe_timeout = 1h;
  const PeerRef leaf_peer = leaf("81");
  const PeerRef silent = entry("a0");
  const PeerRef suspect = entry("b0");
  const PeerRef far = env.peer("c0");
  use_up();
  prober.probe(far, goal::distance);
  prober.probe(silent, goal::presence);
  prober.probe(suspect, goal::life);
  prober.probe(env.peer("84"), goal::leaves);
  prober.probe(env.peer("83"), goal::leaves);
  prober.probe(leaf_peer, goal::life);
  EXPECT_TRUE(env.sent.empty());
  EXPECT_TRUE(prober.suspected(suspect)) << "though it has not been asked yet";
  EXPECT_EQ(next(6), (std::vector<PeerRef>{leaf_peer, env.peer("83"), env.peer("84"), suspect,
                                           silent, far}));
}

TEST_F(BoundedProberTest, ACandidateThatNearerOnesHaveOustedIsForgotten) {
  config.probe_timeout = 1h;
  use_up();
  const PeerRef candidate = env.peer("f0");
  prober.probe(candidate, goal::leaves);
  EXPECT_TRUE(prober.pending(candidate, goal::leaves));
  for (int i = 10; i < 26; ++i) leaf("81" + std::to_string(i));
  for (int i = 10; i < 26; ++i) leaf("7f" + std::to_string(i));
  after(250ms);
  EXPECT_FALSE(prober.pending(candidate, goal::leaves));
  EXPECT_TRUE(env.sent.empty());
}

TEST_F(BoundedProberTest, WithTooManyThatWaitTheLeastImportantIsForgottenAndCounted) {
  config.probes_waiting_max = 2;
  use_up();
  const PeerRef silent = entry("a0");
  prober.probe(env.peer("c0"), goal::distance);
  prober.probe(silent, goal::presence);
  prober.probe(env.peer("c1"), goal::distance);
  EXPECT_FALSE(prober.pending(env.peer("c1"), goal::distance));
  prober.probe(env.peer("81"), goal::leaves);
  EXPECT_FALSE(prober.pending(env.peer("c0"), goal::distance));
  EXPECT_TRUE(prober.pending(silent, goal::presence));
  EXPECT_TRUE(prober.pending(env.peer("81"), goal::leaves));
  EXPECT_EQ(state.counters.probe_drops, 2U);
}

TEST_F(BoundedProberTest, NobodyIsDeadForWantOfAProbe) {
  const PeerRef silent = leaf("81");
  for (int i = 0; i < 60; ++i) prober.probe(env.peer("2" + std::to_string(10 + i)), goal::distance);
  prober.probe(silent, goal::life);
  std::size_t asked = 0;
  std::vector<PeerRef> failed;
  while (failed.empty()) {
    env.sent.clear();
    failed = after(50ms);
    for (const auto& [to, message] : env.sent) asked += to == silent;
  }
  EXPECT_EQ(failed, std::vector<PeerRef>{silent});
  EXPECT_EQ(asked, config.probe_retries + 1);
}

TEST_F(BoundedProberTest, NewsThatWaitsIsSentAlthoughTheAnswerHasCome) {
  prober.probe(peer, goal::leaves);
  const std::uint32_t nonce = env.last<wire::LeafProbe>().nonce;
  use_up();
  state.departed.add(env.peer("a1"), false, env.time);
  prober.probe_with_news(peer);
  prober.answered(peer, nonce, true);
  EXPECT_EQ(next(1), std::vector<PeerRef>{peer});
  EXPECT_EQ(env.last<wire::LeafProbe>().failed, wire::Peers{env.peer("a1")});
}

TEST_F(ProberTest, ASlowLinkGetsTheTimeItTakes) {
  state.proximity.sample(peer, 600ms, env.time);
  prober.probe(peer, goal::life);
  EXPECT_GT(prober.deadline(), env.time + 600ms);
  EXPECT_LE(prober.deadline(), env.time + 4 * config.probe_timeout);
}

}  // namespace
}  // namespace canopy::pastry::test
