#include "sim/ring_order.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace canopy::sim {
namespace {

RingOrder ring_of(const std::vector<const char*>& ids) {
  std::vector<RingOrder::Member> members;
  for (const char* id : ids) {
    members.push_back({*Id::from_hex(id), static_cast<NodeIndex>(members.size())});
  }
  return RingOrder(std::move(members));
}

TEST(RingOrder, finds_the_numerically_closest_across_zero_and_by_the_smaller_id) {
  const RingOrder ring = ring_of({"8000", "1000", "f000", "3000"});
  EXPECT_EQ(ring.closest(*Id::from_hex("7fff")), 0U);
  EXPECT_EQ(ring.closest(*Id::from_hex("1000")), 1U);
  EXPECT_EQ(ring.closest(*Id::from_hex("2000")), 1U);
  EXPECT_EQ(ring.closest(*Id::from_hex("2001")), 3U);
  EXPECT_EQ(ring.closest(*Id::from_hex("ffff")), 2U);
  EXPECT_EQ(ring.closest(*Id::from_hex("0000")), 1U);
}

TEST(RingOrder, lists_leaves_of_both_sides_each_once) {
  const RingOrder ring = ring_of({"0000", "2000", "4000", "6000", "8000"});
  auto leaves = ring.leaves(0, 1);
  std::sort(leaves.begin(), leaves.end());
  EXPECT_EQ(leaves, (std::vector<std::size_t>{1, 4}));
  leaves = ring.leaves(1, 2);
  std::sort(leaves.begin(), leaves.end());
  EXPECT_EQ(leaves, (std::vector<std::size_t>{0, 2, 3, 4}));
  leaves = ring.leaves(2, 8);
  std::sort(leaves.begin(), leaves.end());
  EXPECT_EQ(leaves, (std::vector<std::size_t>{0, 1, 3, 4}));
  EXPECT_TRUE(ring_of({"1234"}).leaves(0, 8).empty());
}

}  // namespace
}  // namespace canopy::sim
