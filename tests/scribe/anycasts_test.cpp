// Anycasts as competing consumers need them: one member each, whatever befalls.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/group_name.hpp"
#include "scribe/mini_net.hpp"

namespace canopy::scribe::test {
namespace {

class AnycastsTest : public testing::Test {
 protected:
  void build(std::size_t count) {
    net.build(count);
    for (Box* box : net.live()) refs.push_back(box->ref);
  }

  // How many members got it.
  std::size_t takers(const std::string& text) {
    std::size_t count = 0;
    for (const PeerRef ref : refs) {
      count += static_cast<std::size_t>(std::ranges::count(net[ref].anycasts, text));
    }
    return count;
  }

  std::uint64_t total(std::uint64_t Counters::*counter) {
    std::uint64_t sum = 0;
    for (Box* box : net.live()) sum += box->scribe().counters().*counter;
    return sum;
  }

  MiniNet net{11};
  const Id group = group_id(prices, 160);
  std::vector<PeerRef> refs;
};

TEST_F(AnycastsTest, ALostSearchIsBegunAgainUnderTheSameId) {
  build(20);
  for (std::size_t i = 0; i < 8; ++i) ASSERT_FALSE(net.join(refs[i], prices));
  for (int i = 0; i < 10; ++i) {
    int to_lose = 1;
    net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
      return wire::type_name(message) == "Anycast" && to_lose-- > 0;
    };
    const std::string text = "a" + std::to_string(i);
    EXPECT_FALSE(net.anycast(refs[15], prices, text).first);
    EXPECT_EQ(takers(text), 1U);
  }
}

TEST_F(AnycastsTest, AMemberWhoseAnswerGotLostIsFoundAgainAndTakesItOnce) {
  build(20);
  for (std::size_t i = 0; i < 8; ++i) ASSERT_FALSE(net.join(refs[i], prices));
  for (int i = 0; i < 10; ++i) {
    int to_lose = 2;
    net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
      return std::holds_alternative<wire::AnycastReply>(message) && to_lose-- > 0;
    };
    const std::string text = "a" + std::to_string(i);
    const auto [error, member] = net.anycast(refs[15], prices, text);
    EXPECT_FALSE(error);
    EXPECT_EQ(takers(text), 1U);
    EXPECT_EQ(net[member].anycasts.back(), text);
  }
  EXPECT_GE(total(&Counters::anycasts_known), 10U);
}

TEST_F(AnycastsTest, WhoDiesWithTheSearchIsSearchedAround) {
  build(30);
  for (std::size_t i = 0; i < 12; ++i) ASSERT_FALSE(net.join(refs[i], prices));
  const auto [first_error, nearest] = net.anycast(refs[20], prices, "first");
  ASSERT_FALSE(first_error);
  net.kill(nearest);
  const auto [error, member] = net.anycast(refs[20], prices, "second", {20s});
  EXPECT_FALSE(error);
  EXPECT_NE(member, nearest);
  EXPECT_EQ(takers("second"), 1U);
}

TEST_F(AnycastsTest, TimeRunsOutIfNothingIsHeard) {
  build(10);
  ASSERT_FALSE(net.join(refs[0], prices));
  net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::AnycastReply>(message);
  };
  const PeerRef asker = refs[5] == net.roots(group)[0] ? refs[6] : refs[5];
  const MonoTime begin = net.now();
  EXPECT_EQ(net.anycast(asker, prices, "hello", {2s}).first, errc::timed_out);
  EXPECT_LE(net.now() - begin, 2100ms);
  EXPECT_EQ(takers("hello"), 1U);
}

TEST_F(AnycastsTest, ItCanWaitUntilAMemberIsWilling) {
  build(10);
  ASSERT_FALSE(net.join(refs[0], prices));
  net[refs[0]].willing = false;
  EXPECT_EQ(net.anycast(refs[5], prices, "now").first, errc::no_member);
  AnycastOutcome outcome;
  bool done = false;
  net[refs[5]].scribe().anycast(prices, Buffer::copy_of("later"),
                                [&](const AnycastOutcome& told) {
                                  outcome = told;
                                  done = true;
                                },
                                {10s, Patience::until_deadline});
  net.run_for(3s);
  EXPECT_FALSE(done);
  net[refs[0]].willing = true;
  EXPECT_TRUE(net.run_until([&] { return done; }, 2s));
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.member, refs[0]);
  net[refs[0]].willing = false;
  EXPECT_EQ(net.anycast(refs[5], prices, "never", {1s, Patience::until_deadline}).first,
            errc::no_member);
}

TEST_F(AnycastsTest, ALongSearchSaysThatItIsUnderWay) {
  build(40);
  for (std::size_t i = 0; i < 30; ++i) {
    ASSERT_FALSE(net.join(refs[i], prices));
    net[refs[i]].willing = false;
  }
  net.lag = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::Anycast>(message) ? Duration(80ms) : Duration::zero();
  };
  net.anycast(refs[35], prices, "hello", {60s});
  EXPECT_EQ(total(&Counters::anycasts_repeated), 0U);
}

TEST_F(AnycastsTest, WhoWasStoppedDoesNotTakeWhatIsGivenUp) {
  build(10);
  ASSERT_FALSE(net.join(refs[0], prices));
  ASSERT_FALSE(net.anycast(refs[5], prices, "before").first);
  net.hang(refs[0]);
  EXPECT_TRUE(net.anycast(refs[5], prices, "meanwhile", {1s}).first);
  net.run_for(3s);
  net.wake_up(refs[0]);
  net.run_for(3s);
  EXPECT_EQ(takers("meanwhile"), 0U);
  EXPECT_FALSE(net.anycast(refs[5], prices, "after", {20s, Patience::until_deadline}).first);
}

// It sends on what has come to it meanwhile.
TEST_F(AnycastsTest, WhoWasStoppedWhileItLeftDoesNotPassOnWhatIsGivenUp) {
  build(10);
  const PeerRef root = net.closest_live(group);
  std::erase(refs, root);
  ASSERT_FALSE(net.join(refs[0], prices));
  net[refs[0]].willing = false;
  net[root].peer->depart();
  net.hang(root);
  EXPECT_TRUE(net.anycast(refs[5], prices, "meanwhile", {1s}).first);
  net.run_for(3s);
  net[refs[0]].willing = true;
  net.wake_up(root);
  net.run_for(3s);
  EXPECT_EQ(takers("meanwhile"), 0U);
  EXPECT_GE(net[root].scribe().counters().anycasts_late, 1U);
}

TEST_F(AnycastsTest, TheNearestTakesAllUntilItIsNotWilling) {
  build(20);
  for (std::size_t i = 0; i < 5; ++i) ASSERT_FALSE(net.join(refs[i], prices));
  const PeerRef nearest = net.anycast(refs[10], prices, "0").second;
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(net.anycast(refs[10], prices, std::to_string(i)).second, nearest);
  }
  net[nearest].willing = false;
  const auto [error, other] = net.anycast(refs[10], prices, "10");
  EXPECT_FALSE(error);
  EXPECT_NE(other, nearest);
}

}  // namespace
}  // namespace canopy::scribe::test
