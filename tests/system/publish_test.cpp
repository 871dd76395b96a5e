// Messages between daemons while all is well.
#include <chrono>
#include <iostream>

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/random.hpp"
#include "system/cluster.hpp"
#include "system/figures.hpp"
#include "system/members.hpp"

namespace canopy::system_test {
namespace {

// A round: one daemon joins a new group; at the instant that it learns that it has, another one
// publishes. Several rounds are under way at a time.
class Rounds {
 public:
  Rounds(Cluster& cluster, int count) : cluster_(cluster), left_(count) {}

  bool run(int at_a_time, seconds time_max) {
    for (int i = 0; i < at_a_time; ++i) next();
    return cluster_.until(time_max, [this] { return under_way_ == 0; });
  }

  int delivered() const noexcept { return delivered_; }
  int failed() const noexcept { return failed_; }

 private:
  void next() {
    if (left_ == 0) return;
    --left_;
    ++under_way_;
    const std::string group = "round-" + std::to_string(left_);
    const std::size_t member = random_.below(cluster_.size());
    const std::size_t publisher = random_.below(cluster_.size());
    cluster_[member].client().send(
        control::Join{{group, ""}},
        [this, group, member, publisher](const control::AnswerEnvelope& envelope) {
          if (std::holds_alternative<control::Joined>(envelope.answer)) {
            publish(cluster_[publisher], group, group);
          } else if (const auto* message = std::get_if<control::Message>(&envelope.answer)) {
            if (message->content.payload.view() == group) ++delivered_;
            over(member, envelope.id);
          } else {
            ++failed_;
            over(member, envelope.id);
          }
        });
  }

  void over(std::size_t member, std::uint64_t join) {
    --under_way_;
    // Leaves by cancelling the join, under the join's own id.
    boost::asio::post(cluster_.io(), [this, member, join] {
      cluster_[member].client().cancel(join);
      next();
    });
  }

  Cluster& cluster_;
  Random random_{42};
  int left_;
  int under_way_ = 0;
  int delivered_ = 0;
  int failed_ = 0;
};

TEST(Publish, AtTheInstantThatAJoinCompletesIsNeverMissed) {
  Cluster cluster({"--digit-bits", "2", "--leaf-set", "4"});
  cluster.start(20);
  ASSERT_TRUE(cluster.becomes_one_ring(seconds(20) * slowness)) << cluster.logs();
  constexpr int count = 1000;
  const auto begin = std::chrono::steady_clock::now();
  Rounds rounds(cluster, count);
  EXPECT_TRUE(rounds.run(8, seconds(120) * slowness));
  EXPECT_EQ(rounds.delivered(), count);
  EXPECT_EQ(rounds.failed(), 0);
  std::cout << count << " rounds, " << rounds.delivered() << " delivered, in "
            << std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()
            << " s\n";
}

TEST(Publish, ReachesEveryMemberOnce) {
  Cluster cluster({"--digit-bits", "2", "--leaf-set", "4"});
  cluster.start(12);
  ASSERT_TRUE(cluster.becomes_one_ring(seconds(20) * slowness)) << cluster.logs();
  Members members(cluster, "news");
  for (std::size_t i = 0; i < cluster.size(); ++i) members.join(i);
  ASSERT_TRUE(
      cluster.until(seconds(10) * slowness, [&] { return members.joined() == cluster.size(); }));
  constexpr std::size_t count = 500;
  for (std::size_t n = 0; n < count; ++n)
    publish(cluster[n % cluster.size()], "news", std::to_string(n));
  EXPECT_TRUE(cluster.until(seconds(20) * slowness, [&] {
    for (std::size_t i = 0; i < cluster.size(); ++i)
      if (members.received(i).size() < count) return false;
    return true;
  }));
  for (std::size_t i = 0; i < cluster.size(); ++i)
    EXPECT_EQ(members.received(i).size(), count) << cluster[i].name();
  EXPECT_EQ(members.duplicates(), 0U);
}

TEST(Publish, LosesNothingWhileAForwarderAndTheRootDepartInOrder) {
  Cluster cluster({"--digit-bits", "2", "--leaf-set", "4"});
  cluster.start(16);
  ASSERT_TRUE(cluster.becomes_one_ring(seconds(20) * slowness)) << cluster.logs();
  Members members(cluster, "news");
  for (std::size_t i = 0; i < 4; ++i) members.join(i);
  ASSERT_TRUE(cluster.until(seconds(10) * slowness, [&] { return members.joined() == 4; }));
  std::size_t sent = 0;
  std::size_t acked = 0;
  const auto send_one = [&] {
    publish(cluster[sent % 4], "news", std::to_string(sent),
            [&](const control::AnswerEnvelope& envelope) {
              if (std::holds_alternative<control::Published>(envelope.answer)) ++acked;
            });
    ++sent;
  };
  for (int departures = 0; departures < 3; ++departures) {
    // The root, or the first node of its tree, that is no member.
    std::size_t leaver = 0;
    for (const control::TreeNode& node : cluster[0].tree("news"))
      for (std::size_t i = 4; i < cluster.size() && leaver == 0; ++i)
        if (cluster[i].name() == node.peer.name) leaver = i;
    if (leaver == 0) break;
    for (int n = 0; n < 20; ++n) send_one();
    cluster[leaver].process().signal(SIGTERM);
    for (int n = 0; n < 40; ++n) {
      send_one();
      cluster.until(milliseconds(5), [] { return false; });
    }
    ASSERT_TRUE(cluster[leaver].process().wait(seconds(10)));
    cluster[leaver].client().close();
    cluster.remove(leaver);
  }
  EXPECT_TRUE(cluster.until(seconds(15) * slowness, [&] {
    for (std::size_t i = 0; i < 4; ++i)
      if (members.received(i).size() < sent) return false;
    return acked == sent;
  }));
  EXPECT_EQ(acked, sent);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(members.received(i).size(), sent) << i;
}

}  // namespace
}  // namespace canopy::system_test
