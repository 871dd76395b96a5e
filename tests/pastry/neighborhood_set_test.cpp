#include "pastry/neighborhood_set.hpp"

#include <gtest/gtest.h>

namespace canopy::pastry {
namespace {

class NeighborhoodSetTest : public ::testing::Test {
 protected:
  PeerRef peer(std::string_view hex, std::uint64_t incarnation = 1) {
    return peers_.intern({*Id::from_hex(hex), incarnation, std::string(hex), {}, 0, ""});
  }
  bool insert(std::string_view hex, std::uint32_t distance, std::uint64_t incarnation = 1) {
    const PeerRef added = peer(hex, incarnation);
    return set_.insert(added, peers_.id(added), distance);
  }

  PeerTable peers_;
  NeighborhoodSet set_{3, peers_};
};

TEST_F(NeighborhoodSetTest, KeepsTheClosestInOrder) {
  EXPECT_TRUE(insert("a0", 30));
  EXPECT_TRUE(insert("b0", 10));
  EXPECT_TRUE(insert("c0", 20));
  EXPECT_FALSE(insert("d0", 40));
  EXPECT_TRUE(insert("e0", 5));
  ASSERT_EQ(set_.size(), 3U);
  EXPECT_EQ(set_.all()[0].peer, peer("e0"));
  EXPECT_EQ(set_.all()[1].peer, peer("b0"));
  EXPECT_EQ(set_.all()[2].peer, peer("c0"));
}

TEST_F(NeighborhoodSetTest, OfTwoAsCloseTheSmallerIdComesFirst) {
  insert("b0", 10);
  insert("a0", 10);
  insert("c0", 10);
  EXPECT_FALSE(insert("d0", 10));
  EXPECT_TRUE(insert("90", 10));
  EXPECT_EQ(set_.all()[0].peer, peer("90"));
  EXPECT_EQ(set_.all()[2].peer, peer("b0"));
}

TEST_F(NeighborhoodSetTest, AMemberMovesToItsNewDistance) {
  insert("a0", 10);
  insert("b0", 20);
  EXPECT_FALSE(insert("a0", 30));
  EXPECT_EQ(set_.all()[1].peer, peer("a0"));
  EXPECT_EQ(set_.size(), 2U);
}

TEST_F(NeighborhoodSetTest, AnotherIncarnationTakesThePlace) {
  insert("a0", 10);
  EXPECT_TRUE(insert("a0", 15, 2));
  EXPECT_EQ(set_.size(), 1U);
  EXPECT_TRUE(set_.contains(peer("a0", 2)));
  EXPECT_FALSE(set_.contains(peer("a0", 1)));
}

TEST_F(NeighborhoodSetTest, RemovesMembers) {
  insert("a0", 10);
  EXPECT_TRUE(set_.remove(peer("a0")));
  EXPECT_FALSE(set_.remove(peer("a0")));
  EXPECT_TRUE(set_.would_take(1'000'000));
}

TEST_F(NeighborhoodSetTest, WouldTakeWhoIsCloserThanTheFarthest) {
  insert("a0", 10);
  insert("b0", 20);
  insert("c0", 30);
  EXPECT_TRUE(set_.would_take(29));
  EXPECT_FALSE(set_.would_take(30));
}

TEST(NeighborhoodSet, OfSizeZeroStaysEmpty) {
  PeerTable peers;
  NeighborhoodSet set(0, peers);
  const PeerRef peer = peers.intern({Id::hash_of("a"), 1, "a", {}, 0, ""});
  EXPECT_FALSE(set.insert(peer, peers.id(peer), 1));
  EXPECT_FALSE(set.would_take(1));
}

}  // namespace
}  // namespace canopy::pastry
