#include "pastry/self_tuning.hpp"

#include <string>

#include <gtest/gtest.h>

namespace canopy::pastry {
namespace {

using namespace std::chrono_literals;

// T_ls, T_o and the repeats of MSPastry.
Config mspastry() {
  Config config;
  config.heartbeat_interval = 30s;
  config.probe_timeout = 3s;
  config.probe_retries = 2;
  return config;
}

constexpr double sessions_of_two_hours = 1.0 / 8280;

class SelfTuningTest : public ::testing::Test {
 protected:
  void fail_every(Duration span, int times) {
    for (int i = 0; i < times; ++i) tuning.failed(now += span);
  }

  Config config = mspastry();
  SelfTuning tuning{config};
  MonoTime now{1h};
};

TEST(TuningFormulas, AreMSPastrys) {
  EXPECT_NEAR(dead_probability(100, 0.01), 0.367879, 1e-6) << "1 - (1 - 1/e) / 1";
  EXPECT_NEAR(dead_probability(10, 1e-9), 5e-9, 1e-14) << "half of what fails meanwhile";
  EXPECT_NEAR(expected_hops(2000, 4), 2.570106, 1e-6) << "15/16 * log16(2000)";
  EXPECT_EQ(expected_hops(9, 4), 1);
  EXPECT_NEAR(raw_loss(mspastry(), 500s, expected_hops(2000, 4), sessions_of_two_hours), 0.0491194,
              1e-6);
}

TEST(TuningFormulas, TheIntervalIsTheLongestThatKeepsToTheLoss) {
  const double hops = expected_hops(2000, 4);
  EXPECT_EQ(entry_probe_interval(mspastry(), hops, sessions_of_two_hours), 509s);
  EXPECT_GT(raw_loss(mspastry(), 510s, hops, sessions_of_two_hours), 0.05);
}

TEST(TuningFormulas, TheIntervalHasBounds) {
  EXPECT_EQ(entry_probe_interval(mspastry(), expected_hops(2000, 4), 1.0 / 300), 9s)
      << "sessions of five minutes: the leaves alone lose more";
  EXPECT_EQ(entry_probe_interval(mspastry(), expected_hops(2000, 4), 1e-9), 1h);
  EXPECT_EQ(entry_probe_interval(mspastry(), 1, 0.01), 9s);
  EXPECT_EQ(entry_probe_interval(mspastry(), 1, 1e-4), 1h) << "no hop but the last";
}

TEST(TuningFormulas, TheDensityOfTheLeavesTellsHowManyNodesThereAre) {
  const Id self = *Id::from_hex("80");
  LeafSet leaves(self, 4);
  EXPECT_EQ(estimated_nodes(leaves, self), 1);
  std::uint32_t next = 0;
  const auto add = [&](std::string_view hex) {
    leaves.insert(PeerRef(next++), *Id::from_hex(hex));
  };
  for (const char* hex : {"7f", "81", "82"}) add(hex);
  EXPECT_EQ(estimated_nodes(leaves, self), 4) << "not full: all there are";
  add("7e");
  EXPECT_NEAR(estimated_nodes(leaves, self), 256, 1e-9) << "a peer at each 256th of the ring";
}

TEST(TuningFormulas, LeavesAllAroundTheRingAreAllThereAre) {
  const Id self = *Id::from_hex("80");
  LeafSet leaves(self, 4);
  std::uint32_t next = 0;
  for (const char* hex : {"b0", "f0", "10", "50"}) {
    leaves.insert(PeerRef(next++), *Id::from_hex(hex));
  }
  EXPECT_NEAR(estimated_nodes(leaves, self), 5, 0.4);
}

TEST_F(SelfTuningTest, NothingIsKnownBeforeTheFirstFailure) {
  tuning.start(now);
  tuning.update(now + 10min, 2000, 50);
  EXPECT_EQ(tuning.own_seconds(), 0U);
  EXPECT_EQ(tuning.interval(), config.entry_probe_max);
}

TEST_F(SelfTuningTest, TheRateIsThatOfTheLastFailures) {
  tuning.start(now);
  fail_every(10s, 4);
  EXPECT_NEAR(tuning.failure_rate(now, 50), 4.0 / 40 / 50, 1e-12) << "counted from the start";
  fail_every(100s, 100);
  EXPECT_NEAR(tuning.failure_rate(now, 50), 1.0 / 100 / 50, 1e-12) << "what is old is forgotten";
  EXPECT_NEAR(tuning.failure_rate(now + 1600s, 50), 0.5 / 100 / 50, 1e-12) << "quiet times count";
}

TEST_F(SelfTuningTest, TheOwnIntervalFollowsFromTheRate) {
  tuning.start(now);
  fail_every(8'280'000ms / 50, 16);
  tuning.update(now, 2000, 50);
  EXPECT_EQ(tuning.own_seconds(), 509U);
  EXPECT_EQ(tuning.interval(), 509s);
}

TEST_F(SelfTuningTest, TheMedianOfTheOwnAndThoseToldCounts) {
  tuning.told(PeerRef(1), 100);
  EXPECT_EQ(tuning.interval(), 100s);
  tuning.told(PeerRef(2), 3000);
  tuning.told(PeerRef(3), 200);
  EXPECT_EQ(tuning.interval(), 200s);
  tuning.told(PeerRef(1), 2000);
  EXPECT_EQ(tuning.interval(), 2000s) << "one value a peer";
  tuning.told(PeerRef(2), 0);
  tuning.told(PeerRef(3), 0);
  EXPECT_EQ(tuning.interval(), 2000s) << "who has none is not counted";
  tuning.start(now);
  fail_every(8'280'000ms / 50, 16);
  tuning.update(now, 2000, 50);
  tuning.told(PeerRef(4), 100);
  EXPECT_EQ(tuning.interval(), 509s) << "the own one is among them";
}

TEST_F(SelfTuningTest, WhatIsToldStaysWithinTheBounds) {
  tuning.told(PeerRef(1), 1);
  EXPECT_EQ(tuning.interval(), config.entry_probe_min);
  tuning.told(PeerRef(1), 4'000'000'000);
  EXPECT_EQ(tuning.interval(), config.entry_probe_max);
}

TEST_F(SelfTuningTest, TheLatestThatWereToldAreRemembered) {
  for (std::uint32_t i = 0; i < 15; ++i) tuning.told(PeerRef(i), 100);
  for (std::uint32_t i = 20; i < 28; ++i) tuning.told(PeerRef(i), 300);
  EXPECT_EQ(tuning.interval(), 300s);
}

}  // namespace
}  // namespace canopy::pastry
