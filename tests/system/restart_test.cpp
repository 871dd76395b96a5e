// Daemons that go and come back, under their old names and at other addresses, while
// groups are in use: a whole ring restarted one by one, and single ones that are stopped
// or killed. Small digits and leaf sets, so that not everybody knows everybody.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "system/cluster.hpp"
#include "system/figures.hpp"
#include "system/told.hpp"

namespace canopy::system_test {
namespace {

using RestartClock = std::chrono::steady_clock;

constexpr std::size_t restarted_ring = 8;
// Of one publisher after another: a best-effort group remembers its last 128 messages, which
// is to be longer than until one is sent again.
constexpr milliseconds publish_interval{6 * slowness};
const std::string in_order = "orders";
const std::string as_it_comes = "news";

// One client of a daemon, and what its membership of a group is told.
struct Session {
  Session(Cluster& cluster, Daemon& daemon)
      : at(daemon.name()), client(cluster.io(), daemon.control_path()) {}

  void join(const std::string& name) {
    group = name;
    client.send(control::Join{{name, ""}}, [this](const control::AnswerEnvelope& envelope) {
      joined |= std::holds_alternative<control::Joined>(envelope.answer);
      told.note(envelope.answer);
    });
  }

  bool has(std::uint64_t number) const {
    return std::ranges::find(told.numbers, number) != told.numbers.end();
  }

  std::string at;
  std::string group;
  Client client;
  Told told;
  bool joined = false;
};

// Publishes numbers into a group, and keeps those that were acknowledged.
class Publisher {
 public:
  Publisher(Cluster& cluster, Daemon& daemon, std::string group, wire::AckMode ack)
      : client_(cluster.io(), daemon.control_path()), group_(std::move(group)), ack_(ack) {}

  void publish(std::uint64_t number) {
    if (!client_.connect()) return;
    control::Publish request;
    request.group = {group_, ""};
    request.ack = ack_;
    request.content.payload = Buffer::copy_of(std::to_string(number));
    ++asked_;
    client_.send(std::move(request), [this, number](const control::AnswerEnvelope& envelope) {
      ++answered_;
      if (const auto* published = std::get_if<control::Published>(&envelope.answer)) {
        acknowledged_.push_back(number);
        if (published->complete) reached_all_.push_back(number);
      } else if (const auto* failure = std::get_if<control::Failure>(&envelope.answer)) {
        failure_ = failure->text;
        ++failed_;
      }
    });
  }

  const std::string& group() const { return group_; }
  bool quiet() const { return !client_.connected() || answered_ == asked_; }
  const std::vector<std::uint64_t>& acknowledged() const { return acknowledged_; }
  const std::vector<std::uint64_t>& reached_all() const { return reached_all_; }
  std::uint64_t asked() const { return asked_; }
  std::uint64_t failed() const { return failed_; }
  const std::string& failure() const { return failure_; }

 private:
  Client client_;
  std::string group_;
  wire::AckMode ack_;
  std::vector<std::uint64_t> acknowledged_;
  std::vector<std::uint64_t> reached_all_;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t failed_ = 0;
  std::string failure_;
};

class RestartTest : public testing::Test {
 protected:
  RestartTest() : cluster_({"--digit-bits", "2", "--leaf-set", "4"}) {}

  void SetUp() override {
    for (std::size_t i = 0; i < restarted_ring; ++i) {
      ASSERT_TRUE(add("peer-" + std::to_string(i)).up()) << cluster_.logs();
    }
    ASSERT_TRUE(cluster_.becomes_one_ring(seconds(20) * slowness)) << cluster_.logs();
    Client& client = cluster_[0].client();
    client.ask<control::Done>(control::Create{{in_order, ""}, wire::GroupMode::ordered});
    client.ask<control::Done>(control::Create{{as_it_comes, ""}, wire::GroupMode::best_effort});
  }

  Daemon& add(const std::string& name) {
    return cluster_.add(name, {"--data", cluster_.directory() + "/" + name + ".data"});
  }

  std::list<Session> join(const std::string& group, std::size_t first, std::size_t count) {
    std::list<Session> sessions;
    for (std::size_t i = first; i < first + count; ++i) {
      sessions.emplace_back(cluster_, cluster_[i]).join(group);
    }
    EXPECT_TRUE(until(seconds(10) * slowness,
                      [&] { return std::ranges::all_of(sessions, &Session::joined); }));
    return sessions;
  }

  // As Cluster's, with the publishers at work.
  template <class Condition>
  bool until(milliseconds time_max, Condition condition) {
    return cluster_.until(time_max, [&] {
      if (RestartClock::now() >= next_) {
        next_ = RestartClock::now() + publish_interval;
        if (!publishers_.empty())
          publishers_[next_publisher_++ % publishers_.size()]->publish(++published_);
      }
      return condition();
    });
  }

  void pass(milliseconds time) {
    until(time, [] { return false; });
  }

  // Ends a daemon; the same comes back as the last one, at another port.
  void restart(std::size_t index, int signal) {
    Daemon& daemon = cluster_[index];
    const std::string name = daemon.name();
    const std::string address = daemon.address();
    daemon.process().signal(signal);
    ASSERT_TRUE(until(seconds(20), [&] { return !daemon.process().running(); }));
    EXPECT_EQ(daemon.process().wait(seconds(1)), signal == SIGTERM ? 0 : 128 + signal)
        << daemon.process().err();
    cluster_.remove(index);
    Daemon& back = add(name);
    ASSERT_TRUE(until(seconds(10) * slowness, [&] { return !back.address().empty(); }));
    EXPECT_NE(back.address(), address);
    ASSERT_TRUE(until(seconds(15) * slowness, [&] { return back.active(); })) << cluster_.logs();
  }

  // Everybody sees everybody once, where he is now.
  bool addresses_known() {
    std::map<std::string, std::string> expected;
    for (std::size_t i = 0; i < cluster_.size(); ++i)
      expected[cluster_[i].name()] = cluster_[i].address();
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      const std::vector<control::Peer> ring = cluster_[i].ring();
      std::map<std::string, std::string> seen;
      for (const control::Peer& peer : ring) seen[peer.name] = peer.addresses.at(0);
      if (ring.size() != expected.size() || seen != expected) return false;
    }
    return true;
  }

  // The index of the group's root.
  std::size_t root_of(const std::string& group) {
    control::Publish request{{group, ""}, wire::AckMode::root, {}, {}};
    request.content.payload = Buffer::copy_of("0");
    const auto result = cluster_[0].client().ask<control::Published>(std::move(request)).at(0);
    std::size_t index = 0;
    while (cluster_[index].name() != result.root.value().name) ++index;
    return index;
  }

  void expect_the_root_takes_its_old_place(int signal);

  // What was published before joining, or fails, may be there, too.
  void expect_all_of(const std::vector<std::uint64_t>& numbers, const Session& session,
                     const std::string& what) {
    std::vector<std::uint64_t> missing;
    const std::set<std::uint64_t> there(session.told.numbers.begin(), session.told.numbers.end());
    for (const std::uint64_t number : numbers)
      if (!there.contains(number)) missing.push_back(number);
    EXPECT_TRUE(missing.empty()) << session.at << " lacks " << missing.size() << " of "
                                 << numbers.size() << " that were " << what << ", the first is "
                                 << missing.front() << " of " << published_;
    EXPECT_EQ(there.size(), session.told.numbers.size())
        << session.at << " has some twice of " << session.group;
  }

  // Half of the ring is restarted, while members and publishers are at the other half
  // and publishers at those that go, too.
  void restart_half();

  Cluster cluster_;
  std::vector<Publisher*> publishers_;
  RestartClock::time_point next_ = RestartClock::now();
  std::size_t next_publisher_ = 0;
  std::uint64_t published_ = 0;
};

void RestartTest::restart_half() {
  constexpr std::size_t half = restarted_ring / 2;
  std::list<Session> ordered = join(in_order, half, half);
  std::list<Session> unordered = join(as_it_comes, half, half);
  std::list<Publisher> staying;
  std::list<Publisher> going;
  for (std::size_t i = 0; i < restarted_ring; ++i) {
    const wire::AckMode ack = i % 2 == 0 ? wire::AckMode::root : wire::AckMode::members;
    for (const std::string& group : {in_order, as_it_comes})
      publishers_.push_back(
          &(i < half ? going : staying).emplace_back(cluster_, cluster_[i], group, ack));
  }
  pass(milliseconds(500));
  for (std::size_t i = 0; i < half; ++i) ASSERT_NO_FATAL_FAILURE(restart(0, SIGTERM));
  ASSERT_TRUE(until(seconds(20) * slowness, [&] { return cluster_.is_one_ring(); }))
      << cluster_.logs();
  pass(seconds(1));
  publishers_.clear();
  EXPECT_TRUE(cluster_.until(seconds(15) * slowness, [&] {
    return std::ranges::all_of(staying, &Publisher::quiet);
  })) << "unanswered publishes";
  cluster_.until(seconds(1) * slowness, [] { return false; });
  for (const Session& session : ordered) {
    EXPECT_TRUE(session.told.gaps.empty()) << "at " << session.at;
    EXPECT_EQ(session.told.lost + session.told.dropped, 0U) << "at " << session.at;
    EXPECT_TRUE(std::ranges::is_sorted(session.told.positions)) << "at " << session.at;
  }
  std::uint64_t lost_with_daemons = 0;
  for (const auto* publishers : {&staying, &going}) {
    for (const Publisher& publisher : *publishers) {
      const bool stays = publishers == &staying;
      if (stays) {
        EXPECT_EQ(publisher.failed(), 0U) << publisher.failure();
        EXPECT_EQ(publisher.acknowledged().size(), publisher.asked());
      }
      lost_with_daemons += publisher.asked() - publisher.acknowledged().size();
      for (const Session& session : publisher.group() == in_order ? ordered : unordered) {
        expect_all_of(publisher.acknowledged(), session, "acknowledged");
        expect_all_of(publisher.reached_all(), session, "at all members");
      }
    }
  }
  std::cout << published_ << " published so far, " << lost_with_daemons
            << " not acknowledged where a daemon ended\n";
}

TEST_F(RestartTest, NothingAcknowledgedIsLostWhileEveryDaemonIsRestartedInTurn) {
  std::map<std::string, std::string> addresses;
  for (std::size_t i = 0; i < restarted_ring; ++i)
    addresses[cluster_[i].name()] = cluster_[i].address();
  ASSERT_NO_FATAL_FAILURE(restart_half());
  ASSERT_NO_FATAL_FAILURE(restart_half());
  for (std::size_t i = 0; i < restarted_ring; ++i)
    EXPECT_NE(cluster_[i].address(), addresses[cluster_[i].name()]);
}

// While publishing goes on; the others have not even taken the killed one for dead yet.
void RestartTest::expect_the_root_takes_its_old_place(int signal) {
  for (const std::string& group : {in_order, as_it_comes}) {
    const std::size_t root = root_of(group);
    const std::size_t first = root < restarted_ring / 2 ? restarted_ring / 2 : 0;
    std::list<Session> sessions = join(group, first, 3);
    Publisher publisher(cluster_, cluster_[first], group, wire::AckMode::root);
    publishers_ = {&publisher};
    pass(milliseconds(200));
    const std::string name = cluster_[root].name();
    ASSERT_NO_FATAL_FAILURE(restart(root, signal));
    EXPECT_TRUE(until(seconds(2) * slowness, [&] { return addresses_known(); })) << cluster_.logs();
    const std::size_t before = publisher.acknowledged().size();
    const auto all_have_the_last = [&] {
      return publisher.acknowledged().size() > before &&
             std::ranges::all_of(sessions, [&](const Session& session) {
               return session.has(publisher.acknowledged().back());
             });
    };
    EXPECT_TRUE(until(seconds(10) * slowness, all_have_the_last)) << publisher.failure();
    publishers_.clear();
    EXPECT_TRUE(until(seconds(10) * slowness, [&] {
      return publisher.quiet() && all_have_the_last();
    })) << publisher.failure();
    EXPECT_EQ(cluster_[root_of(group)].name(), name);
    for (const Session& session : sessions) {
      const std::set<std::uint64_t> there(session.told.numbers.begin(), session.told.numbers.end());
      EXPECT_EQ(there.size(), session.told.numbers.size()) << session.at << " has some twice";
      if (signal == SIGTERM) expect_all_of(publisher.acknowledged(), session, "acknowledged");
    }
  }
}

TEST_F(RestartTest, ARootThatIsStoppedComesBackElsewhereInItsOldPlace) {
  expect_the_root_takes_its_old_place(SIGTERM);
}

TEST_F(RestartTest, ARootThatIsKilledComesBackElsewhereInItsOldPlace) {
  expect_the_root_takes_its_old_place(SIGKILL);
}

}  // namespace
}  // namespace canopy::system_test
