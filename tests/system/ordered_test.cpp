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
#include "system/told.hpp"

namespace canopy::system_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t ordered_members = 20;  // the first ones; the very first publishes
constexpr std::size_t hops = 20;
constexpr std::size_t ordered_daemons = ordered_members + hops;
constexpr unsigned digit_bits = 2;
constexpr std::size_t rate = 1000 / slowness;  // messages a second
constexpr seconds load_time{60};
constexpr seconds settle_time{30};
constexpr milliseconds kill_interval{1000};  // as long as a forwarder can be spared
constexpr std::uint64_t kills_min = 3;       // there may be few that can be spared
constexpr milliseconds down_time{1000};

class OrderedTest : public testing::Test {
 protected:
  // Without path collapse, which would leave few forwarders to kill.
  OrderedTest()
      : cluster_({"--digit-bits", "2", "--leaf-set", "4", "--scribe-path-collapse=false"}) {}

  void grow(wire::GroupMode mode) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_TRUE(cluster_.becomes_one_ring(seconds(60) * slowness)) << cluster_.logs();
    told_.assign(ordered_members, {});
    std::size_t joined = 0;
    cluster_[0].client().ask<control::Done>(control::Create{{group_, ""}, mode});
    for (std::size_t i = 0; i < ordered_members; ++i) {
      cluster_[i].client().send(
          control::Join{{group_, ""}}, [this, i, &joined](const control::AnswerEnvelope& envelope) {
            joined += std::holds_alternative<control::Joined>(envelope.answer);
            told_[i].note(envelope.answer);
          });
    }
    ASSERT_TRUE(cluster_.until(seconds(20) * slowness, [&] { return joined == ordered_members; }));
    look();
    ASSERT_TRUE(cluster_.until(seconds(10) * slowness, [this] { return forwarders_.size() >= 2; }))
        << "the tree has too few forwarders to test anything";
  }

  void start() {
    for (const std::string& name : names_around(group_id(), digit_bits, ordered_members, hops)) {
      Daemon& daemon = cluster_.add(name);
      if (cluster_.size() == 1) {
        ASSERT_TRUE(daemon.up()) << cluster_.logs();
      }
    }
    for (std::size_t i = 0; i < cluster_.size(); ++i) ASSERT_TRUE(cluster_[i].up());
    for (std::size_t i = 0; i < cluster_.size(); ++i) ring_[Id::hash_of(cluster_[i].name())] = i;
  }

  Id group_id() const { return id_of_group(group_); }

  // Asks every hop whether it is a forwarder: in the tree for its children alone.
  void look() {
    forwarders_.clear();
    for (std::size_t i = ordered_members; i < ordered_daemons; ++i) {
      if (!cluster_[i].process().running() || !cluster_[i].client().connect()) continue;
      cluster_[i].client().send(control::GetGroups{},
                                [this, i](const control::AnswerEnvelope& envelope) {
                                  const auto* part = std::get_if<control::Groups>(&envelope.answer);
                                  if (!part) return;
                                  for (const control::Group& group : part->groups)
                                    if (group.id == group_id() && group.children > 0 && !group.root)
                                      forwarders_.insert(i);
                                });
    }
  }

  void kill_a_forwarder() {
    std::vector<std::size_t> running;
    for (const std::size_t i : forwarders_)
      if (cluster_[i].process().running() && neighbors_run(i)) running.push_back(i);
    if (running.empty()) return;
    const std::size_t victim = running[random_.below(running.size())];
    cluster_[victim].process().signal(SIGKILL);
    cluster_[victim].process().wait(seconds(5));
    cluster_[victim].client().close();
    down_.emplace_back(Clock::now() + down_time, victim);
    ++killed_;
  }

  // Of neighbours on the ring, fewer than half a leaf set may be down at once.
  bool neighbors_run(std::size_t index) {
    std::vector<std::size_t> order;
    for (const auto& [id, daemon] : ring_) order.push_back(daemon);
    const auto at = static_cast<std::size_t>(std::ranges::find(order, index) - order.begin());
    for (std::size_t step = 1; step <= 2; ++step) {
      for (const std::size_t other : {at + step, at + order.size() - step}) {
        const std::size_t neighbor = order[other % order.size()];
        if (!cluster_[neighbor].process().running() || recent_.contains(neighbor)) return false;
      }
    }
    return true;
  }

  void bring_back() {
    std::erase_if(recent_, [](const auto& entry) { return entry.second <= Clock::now(); });
    while (!down_.empty() && down_.front().first <= Clock::now()) {
      cluster_[down_.front().second].process().start();
      recent_[down_.front().second] = Clock::now() + down_time;
      down_.pop_front();
    }
  }

  void load_and_kill() {
    const auto begun = Clock::now();
    auto next_kill = begun + kill_interval;
    while (Clock::now() < begun + load_time) {
      const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - begun).count();
      publish_until(static_cast<std::uint64_t>(passed) * rate / 1000);
      bring_back();
      if (Clock::now() >= next_kill) {
        kill_a_forwarder();
        look();
        next_kill += kill_interval;
      }
      cluster_.io().restart();
      cluster_.io().run_one_for(milliseconds(1));
    }
    EXPECT_GE(killed_, kills_min);
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
  const std::string group_ = "orders";
  std::map<Id, std::size_t> ring_;  // daemons by id
  std::vector<Told> told_;
  std::set<std::size_t> forwarders_;
  std::deque<std::pair<Clock::time_point, std::size_t>> down_;
  std::map<std::size_t, Clock::time_point> recent_;  // back, and not yet known to all
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
