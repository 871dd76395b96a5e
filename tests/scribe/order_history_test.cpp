#include "scribe/order_history.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "scribe/order_items.hpp"

namespace canopy::scribe::test {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime history_begun{1h};
constexpr std::size_t plenty = std::size_t{1} << 20;

TEST(OrderHistory, GivesWhatFollowsAPosition) {
  HistoryRoom room(plenty);
  OrderHistory history(room, plenty);
  history.begin({2, 4});
  history.append(multicast(2, 5), history_begun);
  history.append(epoch_start(3, {2, 5}, true), history_begun);
  history.append(multicast(3, 1), history_begun);
  EXPECT_TRUE(history.covers({2, 4}));
  EXPECT_FALSE(history.covers({2, 3}));
  EXPECT_EQ(position_of(*history.next_after({2, 4})), (wire::Position{2, 5}));
  EXPECT_EQ(position_of(*history.next_after({2, 5})), (wire::Position{3, 0}));
  EXPECT_EQ(position_of(*history.next_after({2, 99})), (wire::Position{3, 0}));
  EXPECT_EQ(history.next_after({3, 1}), nullptr);
}

TEST(OrderHistory, FindsWhereAMessageLies) {
  HistoryRoom room(plenty);
  OrderHistory history(room, plenty);
  history.begin({2, 0});
  history.append(multicast(2, 1), history_begun);
  const auto id = std::get<wire::Multicast>(multicast(2, 1)).id;
  EXPECT_EQ(history.find(id), (wire::Position{2, 1}));
  EXPECT_EQ(history.find({}), wire::Position{});
}

TEST(OrderHistory, KnowsWhatMembersDoNotGet) {
  HistoryRoom room(plenty);
  OrderHistory history(room, plenty);
  history.begin({2, 0});
  for (std::uint64_t n = 1; n <= 3; ++n) history.append(multicast(2, n), history_begun);
  history.withhold({2, 2}, Withheld::had);
  history.withhold({2, 3}, Withheld::overtaken);
  history.withhold({2, 9}, Withheld::had);
  EXPECT_EQ(history.withheld({2, 1}), Withheld::no);
  EXPECT_EQ(history.withheld({2, 2}), Withheld::had);
  EXPECT_EQ(history.withheld({2, 3}), Withheld::overtaken);
  EXPECT_EQ(history.withheld({2, 9}), Withheld::no);
}

TEST(OrderHistory, DropsTheOldestBeyondItsBytes) {
  HistoryRoom room(plenty);
  OrderHistory history(room, 3 * bytes_of(multicast(2, 1)));
  history.begin({2, 0});
  for (std::uint64_t n = 1; n <= 10; ++n) history.append(multicast(2, n), history_begun);
  EXPECT_EQ(history.size(), 3u);
  EXPECT_EQ(history.base(), (wire::Position{2, 7}));
  EXPECT_EQ(history.end(), (wire::Position{2, 10}));
}

TEST(OrderHistory, DropsWhatIsTooOld) {
  HistoryRoom room(plenty);
  OrderHistory history(room, plenty);
  history.begin({2, 0});
  for (std::uint64_t n = 1; n <= 4; ++n) history.append(multicast(2, n), history_begun + n * 1s);
  history.expire(history_begun + 3s);
  EXPECT_EQ(history.base(), (wire::Position{2, 2}));
  EXPECT_EQ(history.oldest(), history_begun + 3s);
}

TEST(OrderHistory, HistoriesOfANodeKeepWithinTheirCommonRoom) {
  const std::size_t one = bytes_of(multicast(2, 1));
  HistoryRoom room(8 * one);
  {
    OrderHistory first(room, plenty);
    OrderHistory second(room, plenty);
    first.begin({2, 0});
    second.begin({2, 0});
    for (std::uint64_t n = 1; n <= 20; ++n) {
      first.append(multicast(2, n), history_begun);
      EXPECT_LE(room.bytes(), 8 * one);
    }
    for (std::uint64_t n = 1; n <= 20; ++n) {
      second.append(multicast(2, n), history_begun);
      EXPECT_LE(room.bytes(), 8 * one);
    }
    EXPECT_EQ(first.size(), 4u);
    EXPECT_EQ(second.size(), 4u);
  }
  EXPECT_EQ(room.bytes(), 0u);
}

}  // namespace
}  // namespace canopy::scribe::test
