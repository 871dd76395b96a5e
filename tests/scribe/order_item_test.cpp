#include "scribe/order_item.hpp"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "scribe/order_items.hpp"

namespace canopy::scribe::test {
namespace {

TEST(OrderItem, AMulticastFollowsOnTheOneBeforeItOnly) {
  EXPECT_TRUE(follows(multicast(2, 5), {2, 4}));
  EXPECT_FALSE(follows(multicast(2, 5), {2, 3}));
  EXPECT_FALSE(follows(multicast(2, 5), {2, 5}));
  EXPECT_FALSE(follows(multicast(2, 1), {1, 9}));
  EXPECT_TRUE(follows(multicast(2, 1), {2, 0}));
}

TEST(OrderItem, AnEpochFollowsOnTheEndOfTheOneBefore) {
  const OrderItem item = epoch_start(3, {2, 5}, true);
  EXPECT_FALSE(follows(item, {2, 4}));
  EXPECT_TRUE(follows(item, {2, 5}));
  EXPECT_TRUE(follows(item, {2, 7}));   // of which the new root did not know
  EXPECT_FALSE(follows(item, {1, 9}));  // a whole epoch may be missing
  EXPECT_FALSE(follows(item, {3, 0}));
  EXPECT_FALSE(follows(item, {4, 1}));
}

TEST(OrderItem, AnExactEndMissesNothing) {
  EXPECT_EQ(missed_by(epoch_start(3, {2, 5}, true), {2, 5}), std::nullopt);
  EXPECT_EQ(missed_by(epoch_start(3, {2, 5}, false), {2, 5}), (Missed{2, 6, 0}));
  EXPECT_EQ(missed_by(epoch_start(5, {2, 5}, true), {3, 8}), (Missed{3, 9, 0}));
}

TEST(OrderItem, WhatIsLostHasARangeWithinItsEpoch) {
  EXPECT_EQ(missed_by(lost_up_to(2, 9), {2, 5}), (Missed{2, 6, 9}));
  EXPECT_EQ(missed_by(lost_up_to(3, 9), {2, 5}), (Missed{2, 6, 0}));
  EXPECT_TRUE(follows(lost_up_to(3, 9), {2, 5}));
  EXPECT_FALSE(follows(lost_up_to(3, 9), {3, 9}));
}

TEST(OrderItem, WhatIsKeptOfARequestAges) {
  wire::Multicast request;
  request.asking = {PeerRef{3}, 2000};
  const auto left = [&](Duration age) {
    return std::get<wire::Multicast>(to_message(request, age)).asking.within_ms;
  };
  EXPECT_EQ(left(Duration::zero()), 2000U);
  EXPECT_EQ(left(std::chrono::milliseconds(500)), 1500U);
  EXPECT_EQ(left(std::chrono::seconds(30)), 0U);
  std::vector<PeerRef> in_use;
  collect_peers_of(request, in_use);
  EXPECT_EQ(in_use, std::vector<PeerRef>{PeerRef{3}});
}

}  // namespace
}  // namespace canopy::scribe::test
