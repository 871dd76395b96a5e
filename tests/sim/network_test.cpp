#include "sim/network.hpp"

#include <gtest/gtest.h>

#include "sim/plane.hpp"
#include "sim/virtual_clock.hpp"

namespace canopy::sim {
namespace {

using namespace std::chrono_literals;

class NetworkFaults : public ::testing::Test {
 protected:
  NetworkFaults() {
    for (int i = 0; i < 4; ++i) plane_.attach({100.0 * i, 0});
  }
  static MonoTime at(Duration time) { return MonoTime(time); }
  bool passes(NodeIndex from, NodeIndex to, Duration time = 0s) {
    return network_.fate(from, to, at(time)).copies > 0;
  }

  Plane plane_;
  Network network_{plane_, Random(5)};
};

TEST_F(NetworkFaults, are_absent_at_first) {
  for (int i = 0; i < 1'000; ++i) {
    const auto fate = network_.fate(0, 2, at(1s));
    EXPECT_EQ(fate.copies, 1U);
    EXPECT_EQ(fate.delay[0], plane_.delay(0, 2));
  }
}

TEST_F(NetworkFaults, lose_and_duplicate_at_the_given_rates) {
  network_.set_faults({.loss = 0.1, .duplication = 0.2});
  unsigned copies[3] = {};
  for (int i = 0; i < 100'000; ++i) ++copies[network_.fate(0, 1, at(0s)).copies];
  EXPECT_NEAR(copies[0], 10'000, 500);
  EXPECT_NEAR(copies[2], 18'000, 700);
}

TEST_F(NetworkFaults, delay_and_reorder) {
  network_.set_faults({.reordering = 0.5, .reordering_max = 20ms, .tail = 0.1, .tail_mean = 1s});
  const Duration plain = plane_.delay(0, 1);
  int moved = 0;
  int late = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Duration delay = network_.fate(0, 1, at(0s)).delay[0];
    EXPECT_GE(delay, plain);
    moved += delay > plain ? 1 : 0;
    late += delay > plain + 20ms ? 1 : 0;
  }
  EXPECT_NEAR(moved, 5'500, 300);
  EXPECT_NEAR(late, 980, 200);
}

TEST_F(NetworkFaults, cut_both_ways_or_one) {
  const auto both = network_.partition({0, 1}, Cut::both_ways, at(0s), 0s);
  EXPECT_FALSE(passes(0, 2));
  EXPECT_FALSE(passes(2, 0));
  EXPECT_TRUE(passes(0, 1));
  EXPECT_TRUE(passes(2, 3));
  network_.heal(both, at(0s));
  EXPECT_TRUE(passes(0, 2));

  network_.partition({0}, Cut::from_side, at(0s), 0s);
  EXPECT_FALSE(passes(0, 1));
  EXPECT_TRUE(passes(1, 0));
  network_.heal_all(at(0s));
  network_.partition({0}, Cut::to_side, at(0s), 0s);
  EXPECT_TRUE(passes(0, 1));
  EXPECT_FALSE(passes(1, 0));
}

TEST_F(NetworkFaults, keep_a_partition_for_its_least_duration) {
  const auto cut = network_.partition({0}, Cut::both_ways, at(0s), 10s);
  network_.heal(cut, at(3s));
  EXPECT_FALSE(passes(0, 1, 9s));
  EXPECT_TRUE(passes(0, 1, 10s));
}

TEST_F(NetworkFaults, clog_one_direction_for_a_while) {
  network_.clog(0, 1, at(5s));
  EXPECT_EQ(network_.fate(0, 1, at(2s)).delay[0], 3s + plane_.delay(0, 1));
  EXPECT_EQ(network_.fate(1, 0, at(2s)).delay[0], plane_.delay(0, 1));
  EXPECT_EQ(network_.fate(0, 1, at(6s)).delay[0], plane_.delay(0, 1));
}

TEST_F(NetworkFaults, clog_all_that_is_sent_to_one) {
  network_.clog(no_node, 1, at(5s));
  EXPECT_EQ(network_.fate(0, 1, at(2s)).delay[0], 3s + plane_.delay(0, 1));
  EXPECT_EQ(network_.fate(1, 0, at(2s)).delay[0], plane_.delay(0, 1));
}

TEST_F(NetworkFaults, say_how_much_waits_at_a_clog) {
  network_.clog(0, 1, at(5s));
  network_.fate(0, 1, at(2s), 100);
  network_.fate(0, 1, at(3s), 20);
  EXPECT_EQ(network_.backlog(0, 1, at(4s)), 120U);
  EXPECT_EQ(network_.backlog(1, 0, at(4s)), 0U);
  EXPECT_EQ(network_.backlog(0, 1, at(5s)), 0U);
}

TEST(VirtualClock, drifts_and_jumps_but_never_back) {
  VirtualClock clock;
  EXPECT_EQ(clock.local(MonoTime(10s)), MonoTime(10s));
  clock.set_drift(MonoTime(10s), 100'000);
  EXPECT_EQ(clock.local(MonoTime(20s)), MonoTime(21s));
  clock.set_drift(MonoTime(20s), -500'000);
  EXPECT_EQ(clock.local(MonoTime(30s)), MonoTime(26s));
  clock.jump_ahead(MonoTime(30s), 4s);
  EXPECT_EQ(clock.local(MonoTime(32s)), MonoTime(31s));
}

TEST(VirtualClock, tells_when_it_will_show_a_time) {
  for (const std::int32_t ppm : {0, 50, -50, 300'000, -300'000}) {
    VirtualClock clock;
    clock.set_drift(MonoTime(100s), ppm);
    for (std::int64_t us = 0; us < 1'000'000'000; us = us * 3 + 1) {
      const MonoTime shown = MonoTime(100s) + Duration(us);
      const MonoTime at = clock.global(shown);
      EXPECT_GE(clock.local(at), shown);
      EXPECT_LT(clock.local(at) - shown, 3us);
    }
  }
}

}  // namespace
}  // namespace canopy::sim
