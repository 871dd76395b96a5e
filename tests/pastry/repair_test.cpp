// Measurer, TableRepair and Maintenance: how tables are filled and kept.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "pastry/maintenance.hpp"
#include "pastry/recorder.hpp"
#include "pastry/table_repair.hpp"

namespace canopy::pastry::test {
namespace {

class RepairTest : public ::testing::Test, protected Part {
 protected:
  wire::StateReply answer(wire::Peers peers) const {
    const auto request = env.last<wire::StateRequest>();
    return {request.nonce, request.part, request.row, request.column, std::move(peers)};
  }

  Prober prober{state};
  Measurer measurer{state, prober};
  TableRepair repair{state, measurer};
  Maintenance maintenance{state, prober, measurer};
};

TEST_F(RepairTest, MeasuresAFewAtATime) {
  for (int i = 0; i < 40; ++i) measurer.add(env.peer(std::to_string(10 + i)));
  measurer.advance();
  EXPECT_EQ(env.all<wire::Probe>().size(), config.measurements_at_once);
  EXPECT_FALSE(measurer.idle());
  const auto [to, probe] = env.all<wire::Probe>()[0];
  EXPECT_EQ(to, env.peer("10")) << "first come, first measured";
  prober.answered(to, probe.nonce, false);
  measurer.advance();
  EXPECT_EQ(env.all<wire::Probe>().size(), config.measurements_at_once + 1);
}

TEST_F(RepairTest, AKnownDistanceIsNotMeasuredAgainButUsed) {
  const PeerRef peer = env.peer("20");
  state.proximity.sample(peer, 5ms, env.time);
  EXPECT_TRUE(measurer.add(peer));
  measurer.advance();
  EXPECT_TRUE(env.sent.empty());
  EXPECT_TRUE(state.table.contains(peer, state.id(peer)));
}

TEST_F(RepairTest, TheDeadAndTheNodeItselfAreNotMeasured) {
  state.departed.add(env.peer("20"), false, env.time);
  EXPECT_FALSE(measurer.add(env.peer("20")));
  EXPECT_FALSE(measurer.add(state.self));
  measurer.advance();
  EXPECT_TRUE(env.sent.empty());
}

TEST(Measurer, IsBoundedAndCountsWhatItForgets) {
  Config config;
  config.measurements_max = 5;
  Part part{config};
  Prober prober{part.state};
  Measurer measurer{part.state, prober};
  for (int i = 0; i < 9; ++i) measurer.add(part.env.peer(std::to_string(10 + i)));
  EXPECT_EQ(part.state.counters.probe_drops, 4U);
}

TEST_F(RepairTest, AHoleIsAskedForInItsRowThenInTheNext) {
  for (const char* id : {"10", "20", "30", "40", "50"}) entry(id);
  entry("8100");
  repair.start({0, 0xc});
  std::vector<PeerRef> asked{env.last_receiver<wire::StateRequest>()};
  EXPECT_EQ(env.last<wire::StateRequest>().part, wire::StatePart::entry);
  EXPECT_EQ(env.last<wire::StateRequest>().column, 0xc);
  while (repair.on_state_reply(asked.back(), answer({})) && repair.deadline() != never) {
    asked.push_back(env.last_receiver<wire::StateRequest>());
  }
  EXPECT_EQ(asked, (std::vector<PeerRef>{env.peer("10"), env.peer("20"), env.peer("30"),
                                         env.peer("8100")}));
}

TEST_F(RepairTest, WhatIsNamedIsMeasuredBeforeItIsLetIn) {
  entry("10");
  repair.start({0, 0xc});
  EXPECT_TRUE(repair.on_state_reply(env.peer("10"), answer({env.peer("c0")})));
  EXPECT_EQ(repair.deadline(), never);
  measurer.advance();
  EXPECT_EQ(env.last_receiver<wire::Probe>(), env.peer("c0"));
  EXPECT_FALSE(state.table.at(0, 0xc));
}

TEST_F(RepairTest, ADeadNameIsNoAnswerAndSilenceNeither) {
  entry("10");
  entry("20");
  state.departed.add(env.peer("c0"), false, env.time);
  repair.start({0, 0xc});
  repair.on_state_reply(env.peer("10"), answer({env.peer("c0")}));
  EXPECT_EQ(env.last_receiver<wire::StateRequest>(), env.peer("20"));
  env.time = repair.deadline();
  repair.tick();
  EXPECT_EQ(repair.deadline(), never) << "nobody else is left";
}

TEST_F(RepairTest, AnEmptyRowHasNobodyToAsk) {
  repair.start({3, 1});
  EXPECT_TRUE(env.sent.empty());
  EXPECT_EQ(state.counters.table_repairs, 0U);
}

TEST_F(RepairTest, LeafSetsAreComparedFromTimeToTime) {
  leaf("70");
  leaf("90");
  maintenance.start();
  EXPECT_LE(maintenance.deadline(), env.time + config.leaf_maintenance_interval);
  env.time += config.leaf_maintenance_interval;
  maintenance.tick();
  EXPECT_EQ(env.all<wire::LeafProbe>()[0].first, env.peer("70"));
  EXPECT_GT(maintenance.deadline(), env.time);
}

TEST_F(RepairTest, ALostLeafBringsTheNextComparisonForward) {
  leaf("70");
  maintenance.start();
  maintenance.leaf_lost();
  EXPECT_LE(maintenance.deadline(), env.time + 2 * config.heartbeat_interval);
}

TEST_F(RepairTest, AShortLeafSetInALargeRingAsksItsExtremesUntilItIsFull) {
  leaf("70");
  leaf("90");
  leaf("a0");
  entry("10");
  maintenance.start();
  env.time += config.leaf_maintenance_interval;
  maintenance.tick();
  std::set<PeerRef> asked;
  for (const auto& [to, probe] : env.all<wire::LeafProbe>()) asked.insert(to);
  EXPECT_TRUE(asked.contains(env.peer("70")));
  EXPECT_TRUE(asked.contains(env.peer("90")));
  EXPECT_LE(maintenance.deadline(), env.time + 2 * config.heartbeat_interval);
}

TEST_F(RepairTest, ADepartedPeerIsTriedAgain) {
  leaf("70");
  state.departed.add(env.peer("c0"), false, env.time);
  maintenance.start();
  env.time += config.leaf_maintenance_interval;
  maintenance.tick();
  EXPECT_TRUE(prober.pending(env.peer("c0"), goal::leaves));
}

TEST_F(RepairTest, RowsAreRefreshedFromTheirClosestAndFromOneOther) {
  entry("30", 300);
  entry("8100", 100);
  entry("20", 200);
  for (int i = 50; i < 80; i += 10) entry(std::to_string(i), 1000);
  std::set<PeerRef> others;
  for (int round = 0; round < 50; ++round) {
    env.sent.clear();
    maintenance.refresh_rows();
    auto requests = env.all<wire::StateRequest>();
    ASSERT_GE(requests.size(), 3U);
    EXPECT_EQ(requests[0].first, env.peer("20"));
    EXPECT_EQ(requests[1].first, env.peer("30"));
    EXPECT_EQ(requests.back().first, env.peer("8100"));
    EXPECT_EQ(requests.back().second.row, 1);
    for (std::size_t i = 2; i + 1 < requests.size(); ++i) others.insert(requests[i].first);
    EXPECT_LE(requests.size(), 4U) << "nobody is asked twice";
  }
  EXPECT_EQ(others, (std::set{env.peer("50"), env.peer("60"), env.peer("70")}));
}

TEST_F(RepairTest, TheNearestAreAskedForTheirNeighbours) {
  for (int i = 50; i > 10; i -= 10) state.measured(env.peer(std::to_string(i)), Duration(100 * i));
  for (int i = 50; i > 10; i -= 10) state.offer_measured(env.peer(std::to_string(i)));
  maintenance.refresh_rows();
  std::vector<PeerRef> asked;
  for (const auto& [to, request] : env.all<wire::StateRequest>()) {
    if (request.part == wire::StatePart::neighborhood) asked.push_back(to);
  }
  EXPECT_EQ(asked, (std::vector{env.peer("20"), env.peer("30"), env.peer("40")}));
}

TEST_F(RepairTest, WhomARefreshedRowNamesIsMeasured) {
  entry("8100", 100);
  maintenance.refresh_rows();
  EXPECT_TRUE(maintenance.on_state_reply(answer({env.peer("8200")})));
  measurer.advance();
  EXPECT_EQ(env.last_receiver<wire::Probe>(), env.peer("8200"));
  wire::StateReply stale = answer({});
  ++stale.nonce;
  EXPECT_FALSE(maintenance.on_state_reply(stale));
}

TEST_F(RepairTest, EntriesThatHaveBeenSilentAreProbed) {
  const PeerRef silent = entry("10");
  const PeerRef talking = entry("20");
  maintenance.start();
  state.tuning.told(silent, 100);
  for (int second = 0; second < 99; ++second) {
    env.time += 1s;
    state.proximity.heard(talking, env.time);
    if (maintenance.deadline() <= env.time) maintenance.tick();
  }
  env.sent.clear();
  state.proximity.heard(talking, env.time);
  env.time += 2s;
  maintenance.tick();
  ASSERT_EQ(env.all<wire::Probe>().size(), 1U);
  EXPECT_EQ(env.last_receiver<wire::Probe>(), silent);
  EXPECT_EQ(state.counters.entry_probes, 1U);
  EXPECT_FALSE(prober.suspected(silent)) << "nothing speaks against it yet";
}

TEST_F(RepairTest, WithoutFailuresEntriesAreProbedOnceAnHour) {
  entry("10");
  maintenance.start();
  while (env.time < MonoTime(59min)) {
    env.time = std::max(env.time, maintenance.deadline());
    maintenance.tick();
  }
  EXPECT_EQ(state.counters.entry_probes, 0U);
}

TEST_F(RepairTest, ANeighbourWithTheSameLeavesIsComparedWithLessOften) {
  leaf("70");
  leaf("90");
  maintenance.start();
  // Those with the left neighbour; that it is the random leaf as well is no other.
  const auto comparisons = [&] {
    env.sent.clear();
    for (int round = 0; round < 100; ++round) {
      env.time += 2 * config.leaf_maintenance_interval;
      if (state.agreeing) state.agreed_at = env.time;
      maintenance.tick();
      prober.cancel_all();
    }
    const auto probes = env.all<wire::LeafProbe>();
    return std::count_if(probes.begin(), probes.end(),
                         [&](const auto& probe) { return probe.first == env.peer("70"); });
  };
  EXPECT_GE(comparisons(), 100);
  state.agreeing = env.peer("70");
  const auto fewer = comparisons();
  EXPECT_GT(fewer, 3);
  EXPECT_LT(fewer, 40);
  state.agreeing = env.peer("90");
  EXPECT_GE(comparisons(), 100) << "that was another neighbour";
}

}  // namespace
}  // namespace canopy::pastry::test
