// What a failure costs: forwarders and roots that die or hang under steady
// publishing. Small digits and leaf sets, as otherwise so small a ring has no
// forwarders at all.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "system/cluster.hpp"
#include "system/figures.hpp"
#include "system/members.hpp"

namespace canopy::system_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t daemons = 28;
constexpr int groups_tried_max = 40;
constexpr std::size_t member_count = 8;  // the first ones; the very first publishes
// A parent is lost after two heartbeats of a second each.
constexpr milliseconds repair_time_max{4000};

class FaultTest : public testing::Test {
 protected:
  FaultTest() : cluster_({"--digit-bits", "2", "--leaf-set", "4"}) {}

  void SetUp() override {
    cluster_.start(daemons);
    ASSERT_TRUE(cluster_.becomes_one_ring(seconds(30) * slowness)) << cluster_.logs();
    // What tree a group gets, hangs on how the ring came together.
    for (int n = 0; n < groups_tried_max && forwarders().size() < 2; ++n) {
      const std::string group = "group-" + std::to_string(n);
      if (root_of(group) < member_count) continue;
      group_ = group;
      ASSERT_TRUE(everybody_joins()) << cluster_.logs();
    }
    ASSERT_GE(forwarders().size(), 2U) << "the tree has too few forwarders to test anything";
  }

  bool everybody_joins() {
    if (members_) members_->leave();
    members_.emplace(cluster_, group_);
    for (std::size_t i = 0; i < member_count; ++i) members_->join(i);
    return cluster_.until(seconds(10) * slowness,
                          [&] { return members_->joined() == member_count; });
  }

  // The daemon that is numerically closest to a group's id.
  std::size_t root_of(const std::string& group) {
    const Id id = Id::hash_of(group + "canopy");
    std::size_t best = 0;
    for (std::size_t i = 1; i < cluster_.size(); ++i)
      if (closer_to(id, Id::hash_of(cluster_[i].name()), Id::hash_of(cluster_[best].name())))
        best = i;
    return best;
  }

  std::size_t index_of(const std::string& name) {
    for (std::size_t i = 0; i < cluster_.size(); ++i)
      if (cluster_[i].name() == name) return i;
    return 0;
  }

  // Nodes of the tree that are neither its root nor members.
  std::vector<std::size_t> forwarders() {
    std::vector<std::size_t> found;
    if (!members_) return found;
    for (const control::TreeNode& node : cluster_[0].tree(group_))
      if (node.parent && !node.member) found.push_back(index_of(node.peer.name));
    return found;
  }

  void publish_one() {
    sent_.push_back(Clock::now());
    publish(cluster_[0], group_, std::to_string(sent_.size() - 1));
  }

  void publish_for(milliseconds span) {
    const auto end = Clock::now() + span;
    while (Clock::now() < end) {
      publish_one();
      cluster_.until(milliseconds(20), [] { return false; });
    }
  }

  // How long after `since` a message was published that some member has not got.
  milliseconds outage(Clock::time_point since) {
    milliseconds longest{0};
    for (std::size_t i = 0; i < member_count; ++i)
      for (std::size_t n = 0; n < sent_.size(); ++n)
        if (sent_[n] >= since && !members_->received(i).contains(std::to_string(n)))
          longest = std::max(longest, std::chrono::duration_cast<milliseconds>(sent_[n] - since));
    return longest;
  }

  void expect_repair_after(std::size_t victim, int number, const std::string& what) {
    publish_for(milliseconds(500));
    const auto struck = Clock::now();
    cluster_[victim].process().signal(number);
    publish_for(repair_time_max + milliseconds(3000));
    cluster_.until(seconds(1), [] { return false; });
    const milliseconds longest = outage(struck);
    std::cout << what << " " << cluster_[victim].name() << ": messages missed up to "
              << longest.count() << " ms after it\n";
    EXPECT_LE(longest, repair_time_max * slowness) << cluster_.logs();
    EXPECT_EQ(members_->duplicates(), 0U);
    cluster_[victim].process().signal(SIGKILL);
    cluster_[victim].process().wait(seconds(5));
    cluster_[victim].client().close();
  }

  Cluster cluster_;
  std::string group_;
  std::optional<Members> members_;
  std::vector<Clock::time_point> sent_;
};

TEST_F(FaultTest, MembersGetMessagesAgainAfterForwardersAreKilled) {
  for (int round = 0; round < 3; ++round) {
    const auto all = forwarders();
    if (all.empty()) break;
    expect_repair_after(all[static_cast<std::size_t>(round) % all.size()], SIGKILL,
                        "killed forwarder");
  }
}

TEST_F(FaultTest, MembersGetMessagesAgainAfterForwardersHang) {
  for (int round = 0; round < 3; ++round) {
    const auto all = forwarders();
    if (all.empty()) break;
    expect_repair_after(all[static_cast<std::size_t>(round) % all.size()], SIGSTOP,
                        "stopped forwarder");
  }
}

TEST_F(FaultTest, MembersGetMessagesAgainAfterTheRootIsKilled) {
  const std::size_t root = root_of(group_);
  expect_repair_after(root, SIGKILL, "killed root");
  const auto nodes = cluster_[0].tree(group_);
  ASSERT_FALSE(nodes.empty());
  EXPECT_NE(nodes[0].peer.name, cluster_[root].name());
}

TEST_F(FaultTest, MembersGetMessagesAgainAfterTheRootHangs) {
  expect_repair_after(root_of(group_), SIGSTOP, "stopped root");
}

}  // namespace
}  // namespace canopy::system_test
