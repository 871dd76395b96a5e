// Groups under load while forwarders of their trees are killed, one a second: in
// an ordered one nobody misses anything, in a best-effort one everybody is told
// how much. Small digits and leaf sets, as otherwise so
// small a ring has no forwarders at all.
#include <algorithm>
#include <chrono>
#include <deque>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "base/random.hpp"
#include "system/cluster.hpp"
#include "system/figures.hpp"
#include "system/members.hpp"

namespace canopy::system_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t ordered_daemons = 36;
constexpr std::size_t ordered_members = 20;  // the first ones; the very first publishes
constexpr int groups_tried = 40;
constexpr std::size_t rate = 1000 / slowness;  // messages a second
constexpr seconds load_time{60};
constexpr seconds settle_time{30};
constexpr milliseconds kill_interval{1000};
constexpr milliseconds down_time{2500};

// What one member was told.
struct Told {
  std::vector<std::uint64_t> numbers;  // of messages, as they came
  std::vector<std::pair<std::uint64_t, std::uint64_t>> positions;
  std::vector<control::Gap> gaps;
  std::uint64_t lost = 0;     // on the way
  std::uint64_t dropped = 0;  // for want of a quicker reader
};

class OrderedTest : public testing::Test {
 protected:
  OrderedTest() : cluster_({"--digit-bits", "2", "--leaf-set", "4"}) {}

  void grow(wire::GroupMode mode) {
    mode_ = mode;
    cluster_.start(ordered_daemons);
    ASSERT_TRUE(cluster_.becomes_one_ring(seconds(60) * slowness)) << cluster_.logs();
    for (int n = 0; n < groups_tried && forwarders_ < 2; ++n)
      try_group("ordered-" + std::to_string(n));
    ASSERT_GE(forwarders_, 2U) << "the tree has too few forwarders to test anything";
  }

  // The root is to be a member: members are not killed.
  void try_group(const std::string& group) {
    if (closest(group) >= ordered_members) return;
    group_ = group;
    told_.assign(ordered_members, {});
    std::size_t joined = 0;
    cluster_[0].client().ask<control::Done>(control::Create{{group, ""}, mode_});
    for (std::size_t i = 0; i < ordered_members; ++i) {
      cluster_[i].client().send(control::Join{{group, ""}},
                                [this, i, group, &joined](const control::AnswerEnvelope& envelope) {
                                  joined +=
                                      std::holds_alternative<control::Joined>(envelope.answer);
                                  if (group == group_) note(told_[i], envelope.answer);
                                });
    }
    ASSERT_TRUE(cluster_.until(seconds(20) * slowness, [&] { return joined == ordered_members; }));
    std::vector<std::size_t> found;
    look(found);
    ASSERT_TRUE(cluster_.until(seconds(10) * slowness, [this] { return !looking_; }));
    forwarders_ = found.size();
  }

  static void note(Told& told, const control::Answer& answer) {
    if (const auto* message = std::get_if<control::Message>(&answer)) {
      told.numbers.push_back(std::stoull(std::string(message->content.payload.view())));
      told.positions.emplace_back(message->epoch, message->position);
    } else if (const auto* gap = std::get_if<control::Gap>(&answer)) {
      told.gaps.push_back(*gap);
    } else if (const auto* lost = std::get_if<control::Lost>(&answer)) {
      (lost->on_the_way ? told.lost : told.dropped) += lost->count;
    }
  }

  std::size_t closest(const std::string& group) {
    const Id id = Id::hash_of(group + "canopy");
    std::size_t best = 0;
    for (std::size_t i = 1; i < cluster_.size(); ++i)
      if (closer_to(id, Id::hash_of(cluster_[i].name()), Id::hash_of(cluster_[best].name())))
        best = i;
    return best;
  }

  // Asks which daemons are neither root nor members, but have children.
  void look(std::vector<std::size_t>& found) {
    looking_ = true;
    nodes_.clear();
    cluster_[0].client().send(
        control::GetTree{{group_, ""}}, [this, &found](const control::AnswerEnvelope& envelope) {
          if (const auto* part = std::get_if<control::Tree>(&envelope.answer))
            nodes_.insert(nodes_.end(), part->nodes.begin(), part->nodes.end());
          if (envelope.more) return;
          looking_ = false;
          found.clear();
          std::set<std::size_t> parents;
          for (const control::TreeNode& node : nodes_)
            if (node.parent) parents.insert(*node.parent);
          for (const std::size_t n : parents)
            if (nodes_[n].parent && !nodes_[n].member)
              found.push_back(index_of(nodes_[n].peer.name));
        });
  }

  std::size_t index_of(const std::string& name) {
    for (std::size_t i = 0; i < cluster_.size(); ++i)
      if (cluster_[i].name() == name) return i;
    return 0;
  }

  void kill_one_of(const std::vector<std::size_t>& candidates) {
    std::vector<std::size_t> running;
    for (const std::size_t i : candidates)
      if (i >= ordered_members && cluster_[i].process().running()) running.push_back(i);
    if (running.empty()) return;
    const std::size_t victim = running[random_.below(running.size())];
    cluster_[victim].process().signal(SIGKILL);
    cluster_[victim].process().wait(seconds(5));
    cluster_[victim].client().close();
    down_.emplace_back(Clock::now() + down_time, victim);
    ++killed_;
  }

  void bring_back() {
    while (!down_.empty() && down_.front().first <= Clock::now()) {
      cluster_[down_.front().second].process().start();
      down_.pop_front();
    }
  }

  void load_and_kill() {
    const auto begun = Clock::now();
    auto next_kill = begun + kill_interval;
    std::vector<std::size_t> candidates;
    while (Clock::now() < begun + load_time) {
      const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - begun).count();
      publish_until(static_cast<std::uint64_t>(passed) * rate / 1000);
      bring_back();
      if (Clock::now() >= next_kill && !looking_) {
        kill_one_of(candidates);
        look(candidates);
        next_kill += kill_interval;
      }
      cluster_.io().restart();
      cluster_.io().run_one_for(milliseconds(1));
    }
    EXPECT_TRUE(cluster_.until(seconds(10) * slowness, [this] { return !looking_; }));
    EXPECT_GE(killed_, 20U);
  }

  void report() {
    std::uint64_t lost = 0;
    for (const Told& told : told_) lost += told.lost;
    std::cout << published_ << " messages to each of " << ordered_members << " members, " << killed_
              << " forwarders killed, " << lost << " losses told, " << failed_
              << " publishes failed\n";
    EXPECT_EQ(failed_, 0U);
  }

  void publish_until(std::uint64_t count) {
    for (; published_ < count; ++published_) {
      publish(cluster_[0], group_, std::to_string(published_),
              [this](const control::AnswerEnvelope& envelope) {
                failed_ += std::holds_alternative<control::Failure>(envelope.answer);
                ++answered_;
              });
    }
  }

  Cluster cluster_;
  wire::GroupMode mode_ = wire::GroupMode::ordered;
  std::string group_;
  std::size_t forwarders_ = 0;
  std::vector<Told> told_;
  std::vector<control::TreeNode> nodes_;
  bool looking_ = false;
  std::deque<std::pair<Clock::time_point, std::size_t>> down_;
  std::uint64_t killed_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t failed_ = 0;
  Random random_{1};
};

TEST_F(OrderedTest, NobodyMissesAnythingWhileForwardersAreKilled) {
  ASSERT_NO_FATAL_FAILURE(grow(wire::GroupMode::ordered));
  load_and_kill();
  EXPECT_TRUE(cluster_.until(settle_time * slowness, [this] {
    return answered_ == published_ && std::ranges::all_of(told_, [this](const Told& told) {
             return told.numbers.size() >= published_;
           });
  }));
  report();
  for (std::size_t i = 0; i < ordered_members; ++i) {
    const Told& told = told_[i];
    EXPECT_EQ(told.numbers.size(), published_) << "at " << cluster_[i].name();
    EXPECT_TRUE(std::ranges::is_sorted(told.numbers)) << "at " << cluster_[i].name();
    EXPECT_EQ(told.positions, told_[0].positions) << "at " << cluster_[i].name();
    EXPECT_TRUE(told.gaps.empty()) << "at " << cluster_[i].name();
    EXPECT_EQ(told.lost + told.dropped, 0U);
  }
}

TEST_F(OrderedTest, ABestEffortGroupTellsExactlyWhatItLost) {
  ASSERT_NO_FATAL_FAILURE(grow(wire::GroupMode::best_effort));
  load_and_kill();
  // Trees mend; then one more message, by which the loss of a last one shows.
  cluster_.until(settle_time / 2, [] { return false; });
  publish_until(published_ + 1);
  const auto accounted = [this](const Told& told) {
    return told.numbers.size() + told.lost == published_;
  };
  EXPECT_TRUE(cluster_.until(settle_time * slowness, [&] {
    return answered_ == published_ && std::ranges::all_of(told_, accounted);
  }));
  report();
  for (std::size_t i = 0; i < ordered_members; ++i) {
    const Told& told = told_[i];
    EXPECT_EQ(told.numbers.size() + told.lost, published_) << "at " << cluster_[i].name();
    EXPECT_EQ(std::set(told.numbers.begin(), told.numbers.end()).size(), told.numbers.size());
    EXPECT_EQ(told.dropped, 0U);
  }
}

}  // namespace
}  // namespace canopy::system_test
