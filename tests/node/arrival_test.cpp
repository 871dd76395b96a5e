#include "node/arrival.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace canopy::node {
namespace {

using namespace std::chrono_literals;

const PeerRef some_peer(7);

class FakeHost final : public ArrivalHost {
 public:
  void dial_seed(const std::string& seed) override { dialled.push_back(seed); }
  void found_cluster() override {}
  void resume_alone() override {}
  void join_by(PeerRef contact) override { joined_by.push_back(contact); }
  void give_up(boost::system::error_code, const std::string&) override {}
  bool smaller_id_than(PeerRef) const override { return false; }
  bool alone() const override { return is_alone; }
  double ring_size() const override { return peers; }

  std::vector<std::string> dialled;
  std::vector<PeerRef> joined_by;
  bool is_alone = false;
  double peers = 2;
};

// A node that has joined its ring through its seed.
class ArrivalTest : public testing::Test {
 protected:
  ArrivalTest()
      : timers_(loop_), arrival_(facts(), "n", {"a:1"}, config(), timers_, Random(1), host_) {
    arrival_.start();
    arrival_.seed_answered("a:1", some_peer);
    arrival_.activated();
    EXPECT_EQ(host_.dialled.size(), 1U);
    EXPECT_EQ(host_.joined_by.size(), 1U);
  }

  static FoundingFacts facts() {
    return {.has_seeds = true, .may_found = false, .is_member = false};
  }
  static Arrival::Config config() {
    Arrival::Config config;
    config.lonely_pause = 2ms;
    config.seed_pause = 4ms;
    return config;
  }

  bool dialled_again_within(Duration time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (host_.dialled.size() < 2 && std::chrono::steady_clock::now() < end) loop_.run_for(5ms);
    return host_.dialled.size() >= 2;
  }

  boost::asio::io_context loop_;
  TimerQueue timers_;
  FakeHost host_;
  Arrival arrival_;
};

TEST_F(ArrivalTest, MeetsItsSeedAgainNowAndThen) {
  ASSERT_TRUE(dialled_again_within(10s));
  arrival_.seed_answered("a:1", some_peer);
  EXPECT_EQ(host_.joined_by.size(), 2U);
}

TEST_F(ArrivalTest, MeetsASeedAgainThatDidNotAnswer) {
  ASSERT_TRUE(dialled_again_within(10s));
  arrival_.seed_failed("a:1", make_error_code(boost::system::errc::timed_out), "");
  host_.dialled.pop_back();
  EXPECT_TRUE(dialled_again_within(10s));
}

// Also if the link by which it was met again has been closed meanwhile.
TEST_F(ArrivalTest, DialsASeedThatItHasLostOnceItIsAlone) {
  arrival_.peer_lost(some_peer);
  ASSERT_TRUE(dialled_again_within(10s));
  arrival_.seed_answered("a:1", some_peer);
  arrival_.peer_lost(some_peer);
  host_.peers = 1e15;
  host_.is_alone = true;
  host_.dialled.pop_back();
  EXPECT_TRUE(dialled_again_within(10s));
}

TEST_F(ArrivalTest, LeavesThatToOthersInALargeRing) {
  host_.peers = 1e15;
  EXPECT_FALSE(dialled_again_within(200ms));
}

}  // namespace
}  // namespace canopy::node
