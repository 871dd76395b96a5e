// Rings of daemons that were all started at the same moment by one contact.
#include <chrono>
#include <iostream>

#include <gtest/gtest.h>
#include <signal.h>

#include "system/cluster.hpp"
#include "system/figures.hpp"

namespace canopy::system_test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void expect_one_ring(std::size_t count, seconds time_max) {
  Cluster cluster;
  const auto begin = Clock::now();
  cluster.start(count);
  const double listening = seconds_since(begin);
  ASSERT_TRUE(cluster.until(time_max, [&] {
    for (std::size_t i = 0; i < cluster.size(); ++i)
      if (!cluster[i].active()) return false;
    return true;
  })) << cluster.logs();
  const double active = seconds_since(begin);
  ASSERT_TRUE(cluster.becomes_one_ring(time_max)) << cluster.logs();
  std::cout << count << " daemons: all listening after " << listening << " s, all active after "
            << active << " s, found by every walk to be one ring after " << seconds_since(begin)
            << " s\n";
}

TEST(Ring, OfFiveStartedAtOnce) { expect_one_ring(5, seconds(15)); }

TEST(Ring, OfNineStartedAtOnceHasNoIsland) { expect_one_ring(9, seconds(15)); }

TEST(Ring, OfFiftyStartedAtOnce) { expect_one_ring(50, seconds(15) * slowness); }

TEST(Ring, OfAHundredStartedAtOnce) { expect_one_ring(100, seconds(40) * slowness); }

TEST(Ring, WithSmallDigitsAndLeafSets) {
  Cluster cluster({"--digit-bits", "2", "--leaf-set", "4"});
  cluster.start(24);
  EXPECT_TRUE(cluster.becomes_one_ring(seconds(20) * slowness)) << cluster.logs();
}

TEST(Ring, StaysWholeWhenTwoNeighboursJoinAtOnce) {
  Cluster cluster({"--digit-bits", "2", "--leaf-set", "4"});
  cluster.start(8);
  ASSERT_TRUE(cluster.becomes_one_ring(seconds(20) * slowness)) << cluster.logs();
  // By their SHA-1 these two are a 2^-17 of the ring apart: nobody is between them.
  cluster.add("twin-17");
  cluster.add("twin-51");
  EXPECT_TRUE(cluster.becomes_one_ring(seconds(20) * slowness)) << cluster.logs();
}

TEST(Ring, TakesADaemonBackThatRestartsAtOnceOnItsPort) {
  Cluster cluster;
  cluster.start(4);
  ASSERT_TRUE(cluster.becomes_one_ring(seconds(15) * slowness)) << cluster.logs();
  const std::string port = "127.0.0.1:" + std::to_string(free_port());
  Daemon& restarted = cluster.add("restarted", {"--listen", port});
  ASSERT_TRUE(restarted.up());
  ASSERT_TRUE(cluster.becomes_one_ring(seconds(15) * slowness)) << cluster.logs();
  for (int round = 0; round < 3; ++round) {
    restarted.process().signal(SIGKILL);
    ASSERT_TRUE(restarted.process().wait(seconds(5)));
    restarted.client().close();
    restarted.process().start();
    ASSERT_TRUE(restarted.up()) << restarted.process().err();
    EXPECT_TRUE(cluster.becomes_one_ring(seconds(15) * slowness)) << cluster.logs();
  }
}

TEST(Ring, TakesADaemonBackThatHungForAWhile) {
  Cluster cluster;
  cluster.start(6);
  ASSERT_TRUE(cluster.becomes_one_ring(seconds(15) * slowness)) << cluster.logs();
  cluster[2].process().signal(SIGSTOP);
  // The others close their ranks.
  EXPECT_TRUE(cluster.until(seconds(15) * slowness, [&] { return cluster[0].ring().size() == 5; }));
  cluster[2].process().signal(SIGCONT);
  EXPECT_TRUE(cluster.becomes_one_ring(seconds(15) * slowness)) << cluster.logs();
}

TEST(Ring, SpansAddressFamiliesAndWildcards) {
  Cluster cluster;
  for (const char* listen : {"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"})
    ASSERT_TRUE(cluster.add("peer-" + std::to_string(cluster.size()), {"--listen", listen}).up())
        << cluster.logs();
  EXPECT_TRUE(cluster.becomes_one_ring(seconds(15) * slowness)) << cluster.logs();
}

TEST(Ring, ClosesAgainAfterACleanDeparture) {
  Cluster cluster;
  cluster.start(6);
  ASSERT_TRUE(cluster.becomes_one_ring(seconds(15) * slowness)) << cluster.logs();
  const auto begin = Clock::now();
  cluster[2].process().signal(SIGTERM);
  EXPECT_TRUE(cluster.until(seconds(6), [&] { return !cluster[2].process().running(); }));
  EXPECT_EQ(cluster[2].process().wait(seconds(0)), 0) << cluster[2].process().err();
  std::cout << "departed in " << seconds_since(begin) << " s\n";
  EXPECT_TRUE(cluster.becomes_one_ring(seconds(2) * slowness)) << cluster.logs();
}

TEST(Ring, ClosesAgainAfterAKill) {
  Cluster cluster;
  cluster.start(6);
  ASSERT_TRUE(cluster.becomes_one_ring(seconds(15) * slowness)) << cluster.logs();
  const auto begin = Clock::now();
  cluster[2].process().signal(SIGKILL);
  EXPECT_TRUE(cluster.becomes_one_ring(seconds(15) * slowness)) << cluster.logs();
  std::cout << "one ring " << seconds_since(begin) << " s after the kill\n";
}

}  // namespace
}  // namespace canopy::system_test
