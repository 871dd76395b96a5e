#include "pastry/leaf_set.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace canopy::pastry {
namespace {

Id at(std::string_view hex) { return *Id::from_hex(hex); }

PeerRef peer(std::uint32_t index) { return PeerRef(index); }

std::vector<std::uint32_t> members(const LeafSet& leaves) {
  std::vector<std::uint32_t> indices;
  for (const Leaf& leaf : leaves.all()) indices.push_back(leaf.peer.index());
  return indices;
}

// A full set of four around 80, with 10 and f0 out of it.
LeafSet full_set() {
  LeafSet leaves(at("80"), 4);
  leaves.insert(peer(1), at("90"));
  leaves.insert(peer(2), at("a0"));
  leaves.insert(peer(3), at("60"));
  leaves.insert(peer(4), at("70"));
  return leaves;
}

TEST(LeafSet, ListsItsLeavesClockwiseFromTheNode) {
  EXPECT_EQ(members(full_set()), (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

TEST(LeafSet, IsNeverHomeToTheNodeItself) {
  LeafSet leaves(at("80"), 4);
  EXPECT_FALSE(leaves.insert(peer(9), at("80")));
  EXPECT_FALSE(leaves.would_take(at("80")));
  EXPECT_TRUE(leaves.empty());
}

TEST(LeafSet, NearerPeersPushTheOutermostOfTheirSideOut) {
  LeafSet leaves = full_set();
  EXPECT_TRUE(leaves.insert(peer(5), at("88")));
  EXPECT_EQ(members(leaves), (std::vector<std::uint32_t>{5, 1, 3, 4}));
  EXPECT_TRUE(leaves.insert(peer(6), at("78")));
  EXPECT_EQ(members(leaves), (std::vector<std::uint32_t>{5, 1, 4, 6}));
}

TEST(LeafSet, PeersBeyondBothOutermostAreRefused) {
  LeafSet leaves = full_set();
  EXPECT_FALSE(leaves.would_take(at("f0")));
  EXPECT_FALSE(leaves.insert(peer(5), at("f0")));
  EXPECT_FALSE(leaves.insert(peer(6), at("10")));
}

TEST(LeafSet, OfASmallRingHasEveryPeerOnBothSides) {
  LeafSet leaves(at("80"), 8);
  leaves.insert(peer(1), at("90"));
  leaves.insert(peer(2), at("10"));
  EXPECT_EQ(leaves.side_size(), 2U);
  EXPECT_EQ(leaves.larger(0).peer, peer(1));
  EXPECT_EQ(leaves.larger(1).peer, peer(2));
  EXPECT_EQ(leaves.smaller(0).peer, peer(2));
  EXPECT_EQ(leaves.smaller(1).peer, peer(1));
}

TEST(LeafSet, NeighboursAreTheNearestOnEachSide) {
  const LeafSet leaves = full_set();
  EXPECT_EQ(leaves.right(), peer(1));
  EXPECT_EQ(leaves.left(), peer(4));
  EXPECT_FALSE(LeafSet(at("80"), 4).left());
}

TEST(LeafSet, WrapsAroundZero) {
  LeafSet leaves(at("02"), 4);
  leaves.insert(peer(1), at("fe"));
  leaves.insert(peer(2), at("f0"));
  leaves.insert(peer(3), at("08"));
  leaves.insert(peer(4), at("10"));
  EXPECT_EQ(leaves.left(), peer(1));
  EXPECT_EQ(leaves.right(), peer(3));
  EXPECT_TRUE(leaves.spans(at("f4")));
  EXPECT_TRUE(leaves.spans(at("00")));
  EXPECT_FALSE(leaves.spans(at("80")));
  EXPECT_EQ(leaves.closest(at("ff")), peer(1));
}

TEST(LeafSet, SpansFromOutermostToOutermostInclusively) {
  const LeafSet leaves = full_set();
  EXPECT_TRUE(leaves.spans(at("60")));
  EXPECT_TRUE(leaves.spans(at("80")));
  EXPECT_TRUE(leaves.spans(at("a0")));
  EXPECT_FALSE(leaves.spans(at("5f")));
  EXPECT_FALSE(leaves.spans(at("a1")));
}

TEST(LeafSet, ThatLostALeafOfOneSideSpansTheRest) {
  LeafSet leaves = full_set();
  leaves.remove(peer(4));
  EXPECT_TRUE(leaves.spans(at("70")));
  EXPECT_FALSE(leaves.spans(at("50")));
  EXPECT_FALSE(leaves.spans(at("00")));
  leaves.remove(peer(3));
  EXPECT_FALSE(leaves.spans(at("7f")));
  EXPECT_TRUE(leaves.spans(at("85")));
}

TEST(LeafSet, KnowsHowManyAShortSideHasLeftAtLeast) {
  LeafSet leaves = full_set();
  EXPECT_EQ(leaves.short_side_size(), 2U);
  leaves.remove(peer(4));
  ASSERT_EQ(leaves.short_side_size(), 1U);
  EXPECT_EQ(leaves.smaller(0).peer, peer(3)) << "and the next is of the larger side";
  leaves.remove(peer(3));
  EXPECT_EQ(leaves.short_side_size(), 1U);
}

TEST(LeafSet, ClosestIsTheNumericallyClosestOfLeavesAndNode) {
  const LeafSet leaves = full_set();
  EXPECT_EQ(leaves.closest(at("9f")), peer(2));
  EXPECT_EQ(leaves.closest(at("6a")), peer(4));
  EXPECT_FALSE(leaves.closest(at("81")));
}

TEST(LeafSet, ATieGoesToTheSmallerId) {
  const LeafSet leaves = full_set();
  EXPECT_EQ(leaves.closest(at("98")), peer(1));
  EXPECT_FALSE(leaves.closest(at("88"))) << "the node is as close and has the smaller id";
  EXPECT_EQ(leaves.closest(at("78")), peer(4)) << "the node is as close and has the larger id";
}

TEST(LeafSet, CanPassOverTheLeafWhoseIdIsTheKey) {
  const LeafSet leaves = full_set();
  EXPECT_EQ(leaves.closest(at("90")), peer(1));
  EXPECT_FALSE(leaves.closest(at("90"), {.key = true})) << "80 and a0 are as close then";
}

TEST(LeafSet, AnotherPeerOfTheSameIdTakesThePlace) {
  LeafSet leaves = full_set();
  EXPECT_FALSE(leaves.insert(peer(1), at("90")));
  EXPECT_TRUE(leaves.insert(peer(7), at("90")));
  EXPECT_FALSE(leaves.contains(peer(1)));
  EXPECT_EQ(leaves.find(at("90")), peer(7));
  EXPECT_EQ(leaves.size(), 4U);
}

TEST(LeafSet, RemovesOnlyWhomItHas) {
  LeafSet leaves = full_set();
  EXPECT_FALSE(leaves.remove(peer(8)));
  EXPECT_TRUE(leaves.remove(peer(2)));
  EXPECT_FALSE(leaves.remove(peer(2)));
  EXPECT_TRUE(leaves.would_take(at("f0")));
}

// Against the definition: the |L|/2 nearest clockwise and counter-clockwise.
TEST(LeafSet, HoldsTheNearestOfEachSideWhateverTheOrderOfInsertion) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const unsigned capacity = 2 * (1 + static_cast<unsigned>(random.below(8)));
    const Id self = Id::hash_of("self" + std::to_string(round));
    LeafSet leaves(self, capacity);
    std::vector<Leaf> all;
    const std::size_t count = 1 + random.below(40);
    for (std::uint32_t i = 0; i < count; ++i) {
      all.push_back({Id::hash_of(std::to_string(round) + "-" + std::to_string(i)), peer(i)});
      leaves.insert(all.back().peer, all.back().id);
    }
    std::sort(all.begin(), all.end(),
              [&](const Leaf& a, const Leaf& b) { return a.id - self < b.id - self; });
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i < capacity / 2 || i + capacity / 2 >= all.size()) {
        expected.push_back(all[i].peer.index());
      }
    }
    EXPECT_EQ(members(leaves), expected);
    EXPECT_EQ(leaves.full(), count >= capacity);
  }
}

}  // namespace
}  // namespace canopy::pastry
