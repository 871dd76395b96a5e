// Who has a message, as daemons tell it that run for real.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>

#include <gtest/gtest.h>
#include <signal.h>

#include "system/cluster.hpp"
#include "system/figures.hpp"
#include "system/members.hpp"

namespace canopy::system_test {
namespace {

constexpr std::size_t count = 10;

class TrackedTest : public testing::Test {
 protected:
  TrackedTest()
      : cluster_({"--digit-bits", "2", "--leaf-set", "4", "--scribe-child-refresh", "2s",
                  "--scribe-child-expiry", "6s"}) {}

  // Everybody is a member.
  void start(wire::GroupMode mode) {
    cluster_.start(count);
    ASSERT_TRUE(cluster_.becomes_one_ring(seconds(20) * slowness)) << cluster_.logs();
    cluster_[0].client().ask<control::Done>(control::Create{{"news", ""}, mode});
    for (std::size_t i = 0; i < count; ++i) members_.join(i);
    ASSERT_TRUE(cluster_.until(seconds(10) * slowness, [&] { return members_.joined() == count; }));
  }

  control::Published publish(std::size_t daemon, milliseconds time) {
    control::Publish request{{"news", ""}, wire::AckMode::members, {}, time};
    request.content.payload = Buffer::copy_of(std::to_string(++published_));
    return cluster_[daemon].client().ask<control::Published>(std::move(request)).at(0);
  }

  bool becomes_complete(std::size_t daemon, std::uint64_t members, milliseconds time_max) {
    return eventually(time_max, [&] {
      const control::Published result = publish(daemon, seconds(2));
      return result.complete && result.members == members;
    });
  }

  // The first that nobody is below of; never the first daemon, which publishes.
  std::size_t leaf() {
    const auto nodes = cluster_[0].tree("news");
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const bool parent =
          std::ranges::any_of(nodes, [n](const auto& node) { return node.parent == n; });
      for (std::size_t i = 1; i < cluster_.size() && !parent; ++i)
        if (cluster_[i].name() == nodes[n].peer.name) return i;
    }
    return 0;
  }

  Cluster cluster_;
  Members members_{cluster_, "news"};
  std::size_t published_ = 0;
};

class TrackedInEachMode : public TrackedTest,
                          public testing::WithParamInterface<wire::GroupMode> {};

INSTANTIATE_TEST_SUITE_P(Modes, TrackedInEachMode,
                         testing::Values(wire::GroupMode::best_effort, wire::GroupMode::ordered),
                         [](const auto& parameter) {
                           return parameter.param == wire::GroupMode::ordered ? "ordered"
                                                                              : "best_effort";
                         });

TEST_P(TrackedInEachMode, AllAreCountedAndAMemberThatIsStoppedIsNamed) {
  start(GetParam());
  EXPECT_TRUE(becomes_complete(0, count, seconds(10) * slowness));
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const control::Published result = publish(i, seconds(5));
    EXPECT_TRUE(result.complete) << i;
    EXPECT_EQ(result.members, count);
    const auto time = std::chrono::steady_clock::now() - begin;
    std::cout << "all of " << count << " answered in "
              << std::chrono::duration<double, std::milli>(time).count() << " ms\n";
  }

  const std::size_t silent = leaf();
  ASSERT_NE(silent, 0U);
  cluster_[silent].process().signal(SIGSTOP);
  const control::Published missed = publish(0, seconds(2));
  EXPECT_FALSE(missed.complete);
  EXPECT_EQ(missed.members, count - 1);
  ASSERT_EQ(missed.unreachable.size(), 1U);
  EXPECT_EQ(missed.unreachable[0].name, cluster_[silent].name());

  // Taken for dead meanwhile, it is missed until the expiry period is over.
  cluster_.until(seconds(4), [] { return false; });
  EXPECT_FALSE(publish(0, seconds(1)).complete);
  EXPECT_TRUE(becomes_complete(0, count - 1, seconds(30) * slowness)) << cluster_.logs();
  cluster_[silent].process().signal(SIGCONT);
  EXPECT_TRUE(becomes_complete(0, count, seconds(30) * slowness)) << cluster_.logs();
  EXPECT_EQ(members_.duplicates(), 0U);
}

TEST_F(TrackedTest, KilledMembersAreMissedAtOnceAndForgottenLater) {
  start(wire::GroupMode::best_effort);
  ASSERT_TRUE(becomes_complete(0, count, seconds(10) * slowness));
  const std::size_t killed = leaf();
  ASSERT_NE(killed, 0U);
  cluster_[killed].process().signal(SIGKILL);
  const control::Published missed = publish(0, seconds(2));
  EXPECT_FALSE(missed.complete);
  EXPECT_EQ(missed.members, count - 1);
  EXPECT_TRUE(becomes_complete(0, count - 1, seconds(30) * slowness)) << cluster_.logs();
}

}  // namespace
}  // namespace canopy::system_test
