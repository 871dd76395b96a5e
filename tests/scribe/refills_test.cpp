#include "scribe/refills.hpp"

#include <gtest/gtest.h>

namespace canopy::scribe::test {
namespace {

constexpr PeerRef first_peer{1};
constexpr PeerRef second_peer{2};

TEST(Refills, WhoeverCatchesUpGoesOnDoingSo) {
  Refills refills;
  refills.add(first_peer, {2, 5}, {});
  EXPECT_TRUE(refills.catching_up(first_peer));
  refills.add(first_peer, {2, 3}, {2, 4});
  EXPECT_TRUE(refills.catching_up(first_peer));
  ASSERT_EQ(refills.all().size(), 1u);
  EXPECT_EQ(refills.all()[0].cursor, (wire::Position{2, 3}));
  refills.remove(first_peer);
  EXPECT_TRUE(refills.empty());
}

TEST(Refills, AHoleIsFilledBesideTheLiveStream) {
  Refills refills;
  refills.add(second_peer, {2, 5}, {2, 9});
  EXPECT_FALSE(refills.catching_up(second_peer));
  const Refill& owed = refills.all()[0];
  EXPECT_TRUE(owed.wants({2, 6}));
  EXPECT_FALSE(owed.wants({2, 5}));
  EXPECT_FALSE(owed.wants({2, 9}));
}

TEST(Refills, TheEarliestThatAHistoryLacksCounts) {
  Refills refills;
  EXPECT_EQ(refills.uncovered({2, 9}), std::nullopt);
  refills.add(first_peer, {2, 5}, {});
  refills.add(second_peer, {1, 7}, {});
  EXPECT_EQ(refills.uncovered({2, 6}), (wire::Position{1, 7}));
  EXPECT_EQ(refills.uncovered({1, 7}), std::nullopt);
}

}  // namespace
}  // namespace canopy::scribe::test
