#include "scribe/order_stream.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "scribe/order_items.hpp"

namespace canopy::scribe::test {
namespace {

constexpr MonoTime stream_time{std::chrono::hours(1)};

using Verdict = OrderStream::Verdict;
using Hole = OrderStream::Hole;

class OrderStreamTest : public testing::Test {
 protected:
  OrderStreamTest() { stream.start({2, 4}); }

  Verdict offer(const OrderItem& item) { return stream.offer(item, stream_time, steps); }
  std::vector<wire::Position> positions() const {
    std::vector<wire::Position> found;
    for (const auto& step : steps) found.push_back(position_of(step.item));
    return found;
  }
  std::vector<Missed> missed() const {
    std::vector<Missed> found;
    for (const auto& step : steps)
      if (step.missed) found.push_back(*step.missed);
    return found;
  }
  using Positions = std::vector<wire::Position>;

  OrderStream::Room room{HistoryRoom(std::size_t{1} << 20), Quota(4, std::size_t{1} << 20)};
  OrderStream stream{order_group, room, std::size_t{1} << 20};
  std::vector<OrderStream::Step> steps;
};

TEST_F(OrderStreamTest, TakesWhatIsInOrder) {
  EXPECT_EQ(offer(multicast(2, 5)), Verdict::in_order);
  EXPECT_EQ(offer(multicast(2, 6)), Verdict::in_order);
  EXPECT_EQ(positions(), (Positions{{2, 5}, {2, 6}}));
  EXPECT_EQ(stream.hole(), std::nullopt);
}

TEST_F(OrderStreamTest, HoldsBackWhatIsEarlyAndSaysWhatIsMissing) {
  EXPECT_EQ(offer(multicast(2, 7)), Verdict::early);
  EXPECT_EQ(offer(multicast(2, 6)), Verdict::early);
  EXPECT_EQ(stream.hole(), (Hole{{2, 4}, {2, 6}}));
  EXPECT_EQ(offer(multicast(2, 5)), Verdict::in_order);
  EXPECT_EQ(positions(), (Positions{{2, 5}, {2, 6}, {2, 7}}));
  EXPECT_EQ(stream.hole(), std::nullopt);
}

TEST_F(OrderStreamTest, TakesNothingTwice) {
  offer(multicast(2, 5));
  EXPECT_EQ(offer(multicast(2, 5)), Verdict::old);
  EXPECT_EQ(offer(multicast(2, 3)), Verdict::old);
  EXPECT_EQ(offer(multicast(2, 8)), Verdict::early);
  EXPECT_EQ(offer(multicast(2, 8)), Verdict::old);
  EXPECT_EQ(offer(multicast(1, 99)), Verdict::old);
  EXPECT_EQ(steps.size(), 1u);
}

TEST_F(OrderStreamTest, MissesTheTailThatItHasHeardOf) {
  stream.heard_of({2, 6});
  EXPECT_EQ(stream.hole(), (Hole{{2, 4}, {2, 7}}));
  stream.new_source({2, 4});
  EXPECT_EQ(stream.hole(), std::nullopt);
}

TEST_F(OrderStreamTest, AHoleThatIsGivenUpIsTold) {
  offer(multicast(2, 8));
  stream.give_up(stream_time, steps);
  EXPECT_EQ(positions(), (Positions{{2, 7}, {2, 8}}));
  EXPECT_EQ(missed(), (std::vector<Missed>{{2, 5, 7}}));
  EXPECT_EQ(stream.hole(), std::nullopt);
}

TEST_F(OrderStreamTest, ATailThatIsGivenUpIsTold) {
  stream.heard_of({2, 6});
  stream.give_up(stream_time, steps);
  EXPECT_EQ(missed(), (std::vector<Missed>{{2, 5, 6}}));
  EXPECT_EQ(stream.position(), (wire::Position{2, 6}));
}

TEST_F(OrderStreamTest, AnEpochWaitsForTheEndOfTheOneBefore) {
  EXPECT_EQ(offer(epoch_start(3, {2, 5}, true)), Verdict::early);
  EXPECT_EQ(offer(multicast(3, 1)), Verdict::early);
  EXPECT_EQ(stream.hole(), (Hole{{2, 4}, {3, 0}}));
  EXPECT_EQ(offer(multicast(2, 5)), Verdict::in_order);
  EXPECT_EQ(positions(), (Positions{{2, 5}, {3, 0}, {3, 1}}));
  EXPECT_EQ(missed(), std::vector<Missed>{});
}

TEST_F(OrderStreamTest, TheEndOfAnEpochThatIsGivenUpIsTold) {
  offer(epoch_start(3, {2, 5}, true));
  stream.give_up(stream_time, steps);
  EXPECT_EQ(positions(), (Positions{{2, 5}, {3, 0}}));
  EXPECT_EQ(missed(), (std::vector<Missed>{{2, 5, 5}}));
}

TEST_F(OrderStreamTest, TheWordOfALossClosesTheHoleAsFarAsItGoes) {
  offer(multicast(2, 9));
  EXPECT_EQ(offer(lost_up_to(2, 6)), Verdict::in_order);
  EXPECT_EQ(stream.hole(), (Hole{{2, 6}, {2, 9}}));
  EXPECT_EQ(offer(lost_up_to(2, 8)), Verdict::in_order);
  EXPECT_EQ(missed(), (std::vector<Missed>{{2, 5, 6}, {2, 7, 8}}));
  EXPECT_EQ(stream.position(), (wire::Position{2, 9}));
}

TEST_F(OrderStreamTest, TheWordOfALossUpToWhatIsHeldClosesAllHolesBeforeIt) {
  offer(multicast(2, 6));
  offer(multicast(2, 8));
  EXPECT_EQ(offer(lost_up_to(2, 8)), Verdict::in_order);
  EXPECT_EQ(stream.position(), (wire::Position{2, 8}));
  EXPECT_EQ(missed(), (std::vector<Missed>{{2, 5, 5}, {2, 7, 7}}));
  EXPECT_EQ(positions(), (Positions{{2, 5}, {2, 6}, {2, 7}, {2, 8}}));
}

TEST_F(OrderStreamTest, TheTimeToReplyRunsWhileARequestIsHeldBack) {
  OrderItem request = multicast(2, 6);
  std::get<wire::Multicast>(request).asking.within_ms = 5000;
  offer(request);
  stream.offer(multicast(2, 5), stream_time + std::chrono::seconds(3), steps);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(std::get<wire::Multicast>(steps[1].item).asking.within_ms, 2000u);
}

TEST_F(OrderStreamTest, HoldsBackNoMoreThanThereIsRoomFor) {
  for (std::uint64_t n = 6; n < 10; ++n) EXPECT_EQ(offer(multicast(2, n)), Verdict::early);
  EXPECT_EQ(offer(multicast(2, 10)), Verdict::no_room);
  EXPECT_EQ(offer(multicast(2, 5)), Verdict::in_order);
  EXPECT_EQ(stream.held(), 0u);
  EXPECT_EQ(offer(multicast(2, 12)), Verdict::early);
}

TEST_F(OrderStreamTest, WhateverTheOrderOfArrivalTheOrderOfYieldingIsOne) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    OrderStream::Room wide{HistoryRoom(std::size_t{1} << 20), Quota(100, std::size_t{1} << 20)};
    OrderStream other(order_group, wide, std::size_t{1} << 20);
    other.start({2, 0});
    std::vector<OrderItem> items;
    for (std::uint64_t n = 1; n <= 10; ++n) items.push_back(multicast(2, n));
    items.push_back(epoch_start(3, {2, 10}, true));
    for (std::uint64_t n = 1; n <= 10; ++n) items.push_back(multicast(3, n));
    Random random(seed);
    std::vector<OrderStream::Step> yielded;
    for (int i = 0; i < 300; ++i) {
      other.offer(items[random.below(items.size())], stream_time, yielded);
    }
    for (const OrderItem& item : items) other.offer(item, stream_time, yielded);
    ASSERT_EQ(yielded.size(), items.size()) << "seed " << seed;
    for (std::size_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(position_of(yielded[i].item), position_of(items[i]));
      EXPECT_FALSE(yielded[i].missed);
    }
    EXPECT_EQ(other.held(), 0u);
  }
}

}  // namespace
}  // namespace canopy::scribe::test
