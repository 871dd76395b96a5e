// A thousand groups on one ring: what daemons send while nothing is published does
// not depend on how many groups there are, and a daemon that dies costs a bounded
// repair.
#include <chrono>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "system/cluster.hpp"
#include "system/figures.hpp"

namespace canopy::system_test {
namespace {

constexpr std::size_t few_groups = 10;
constexpr std::size_t many_groups = 1000;
constexpr std::size_t ring_size = 5;
constexpr seconds calm_time{20};  // until no child is moved any more
// Replicas are confirmed, and children report to parents, every 30 s.
constexpr seconds idle_time{35};
// Heartbeats go to whom a daemon shares a tree with, which with few groups are not
// all others: at most one a second more for each of them.
constexpr double heartbeats_max = (ring_size - 1) * idle_time.count();
constexpr double heartbeat_bytes = 64;

class ManyGroupsTest : public testing::Test {
 protected:
  // Any number of children: else daemons that all have too many would be trying to
  // relieve each other for a while.
  ManyGroupsTest() : cluster_({"--scribe-children", "0"}) {}

  void join(std::size_t groups) {
    const std::size_t wanted = groups * ring_size;
    for (std::size_t i = 0; i < ring_size; ++i)
      for (std::size_t n = joined_groups_; n < groups; ++n)
        cluster_[i].client().send(control::Join{{"group-" + std::to_string(n), ""}},
                                  [this](const control::AnswerEnvelope& envelope) {
                                    joined_ +=
                                        std::holds_alternative<control::Joined>(envelope.answer);
                                  });
    joined_groups_ = groups;
    ASSERT_TRUE(cluster_.until(seconds(60) * slowness, [&] { return joined_ == wanted; }))
        << joined_ << " of " << wanted << " joined";
    cluster_.until(calm_time, [] { return false; });
  }

  std::uint64_t total(const std::string& counter) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < cluster_.size(); ++i)
      if (cluster_[i].process().running()) sum += cluster_[i].counter(counter);
    return sum;
  }

  // Messages and bytes that a daemon sends in the meantime.
  std::pair<double, double> idle() {
    const std::uint64_t frames = total("link.frames_out");
    const std::uint64_t bytes = total("link.bytes_out");
    cluster_.until(idle_time, [] { return false; });
    return {static_cast<double>(total("link.frames_out") - frames) / ring_size,
            static_cast<double>(total("link.bytes_out") - bytes) / ring_size};
  }

  bool all_attached() {
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      if (!cluster_[i].process().running()) continue;
      std::size_t attached = 0;
      for (const control::Groups& part :
           cluster_[i].client().ask<control::Groups>(control::GetGroups{}))
        for (const control::Group& group : part.groups) attached += group.member && group.attached;
      if (attached != joined_groups_) return false;
    }
    return true;
  }

  Cluster cluster_;
  std::size_t joined_ = 0;
  std::size_t joined_groups_ = 0;
};

TEST_F(ManyGroupsTest, CostNothingWhileNobodyPublishesAndMendTogether) {
  cluster_.start(ring_size);
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(20) * slowness)) << cluster_.logs();
  ASSERT_NO_FATAL_FAILURE(join(few_groups));
  const auto [few_frames, few_bytes] = idle();
  ASSERT_NO_FATAL_FAILURE(join(many_groups));
  const auto [many_frames, many_bytes] = idle();
  std::cout << fmt::format(
      "idle for {} s: {} groups {:.0f} messages, {:.0f} bytes a daemon; "
      "{} groups {:.0f} messages, {:.0f} bytes\n",
      idle_time.count(), few_groups, few_frames, few_bytes, many_groups, many_frames, many_bytes);
  EXPECT_LE(many_frames, few_frames + heartbeats_max);
  EXPECT_LE(many_bytes, few_bytes + heartbeats_max * heartbeat_bytes);

  const std::uint64_t frames = total("link.frames_out") - cluster_[0].counter("link.frames_out");
  const std::uint64_t evictions = total("ring.evictions") - cluster_[0].counter("ring.evictions");
  cluster_[0].process().signal(SIGKILL);
  cluster_[0].process().wait(seconds(5));
  cluster_[0].client().close();
  ASSERT_TRUE(
      cluster_.until(seconds(20) * slowness, [&] { return total("ring.evictions") > evictions; }));
  EXPECT_TRUE(cluster_.until(seconds(60) * slowness, [this] { return all_attached(); }));
  const std::uint64_t mended = total("link.frames_out") - frames;
  std::cout << fmt::format(
      "one of {} daemons killed: {} messages by all others until {} trees "
      "were whole\n",
      ring_size, mended, many_groups);
  // Each member of each tree JOINs at most a few times; roots tell their replicas.
  EXPECT_LE(mended, 20 * many_groups * ring_size);
  EXPECT_EQ(total("link.dropped_full.control") + total("link.dropped_full.bulk"), 0U);
}

}  // namespace
}  // namespace canopy::system_test
