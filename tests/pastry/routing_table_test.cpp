#include "pastry/routing_table.hpp"

#include <gtest/gtest.h>

namespace canopy::pastry {
namespace {

class RoutingTableTest : public ::testing::Test {
 protected:
  PeerRef peer(std::string_view hex, std::uint64_t incarnation = 1) {
    return peers_.intern({*Id::from_hex(hex), incarnation, std::string(hex), {}, 0, ""});
  }
  bool insert(std::string_view hex, std::uint32_t distance) {
    const PeerRef added = peer(hex);
    return table_.insert(added, peers_.id(added), distance);
  }

  PeerTable peers_;
  RoutingTable table_{*Id::from_hex("1234"), 4, peers_};
};

TEST_F(RoutingTableTest, PeersStandInTheRowOfTheirSharedPrefixAndTheColumnOfTheNextDigit) {
  EXPECT_EQ(table_.slot_of(*Id::from_hex("5678")), (RoutingTable::Slot{0, 5}));
  EXPECT_EQ(table_.slot_of(*Id::from_hex("1278")), (RoutingTable::Slot{2, 7}));
  EXPECT_EQ(table_.slot_of(*Id::from_hex("1235")), (RoutingTable::Slot{3, 5}));
  EXPECT_TRUE(insert("1278", 10));
  EXPECT_EQ(table_.at(2, 7), peer("1278"));
  EXPECT_FALSE(table_.at(2, 8));
  EXPECT_EQ(table_.towards(*Id::from_hex("127f")), peer("1278"));
  EXPECT_FALSE(table_.towards(*Id::from_hex("1234")));
}

TEST_F(RoutingTableTest, APeerOfTheOwnZoneWinsAnEntryThenTheClosest) {
  const auto in = [this](std::string_view hex, const char* zone) {
    return peers_.intern({*Id::from_hex(hex), 1, std::string(hex), {}, 0, zone});
  };
  RoutingTable table(*Id::from_hex("1234"), 4, peers_, "a");
  const auto put = [&](PeerRef added, std::uint32_t distance) {
    return table.insert(added, peers_.id(added), distance);
  };
  EXPECT_TRUE(put(in("5000", "b"), 10));
  EXPECT_TRUE(table.prefers_zone_of(in("5001", "a"), *Id::from_hex("5001")));
  EXPECT_FALSE(put(in("5001", "a"), unknown_distance)) << "it may be anywhere, or dead";
  EXPECT_TRUE(put(in("5001", "a"), 100));
  EXPECT_FALSE(put(in("5002", "b"), 5));
  EXPECT_FALSE(put(in("5003", ""), 5));
  EXPECT_FALSE(table.prefers_zone_of(in("5004", "a"), *Id::from_hex("5004")));
  EXPECT_TRUE(put(in("5004", "a"), 50)) << "of two in the zone the closer";
  EXPECT_FALSE(table_.prefers_zone_of(in("5001", "a"), *Id::from_hex("5001")));
  EXPECT_TRUE(insert("5000", 10));
  EXPECT_FALSE(table_.insert(in("5001", ""), *Id::from_hex("5001"), 100))
      << "no zone is none that others could be of";
}

TEST_F(RoutingTableTest, TheClosestWinsAnEntry) {
  EXPECT_TRUE(insert("5000", 100));
  EXPECT_FALSE(insert("5001", 200));
  EXPECT_EQ(table_.at(0, 5), peer("5000"));
  EXPECT_TRUE(insert("5002", 50));
  EXPECT_EQ(table_.at(0, 5), peer("5002"));
  EXPECT_EQ(table_.size(), 1U);
}

TEST_F(RoutingTableTest, OfTwoAsCloseTheSmallerIdWins) {
  EXPECT_TRUE(insert("5003", 100));
  EXPECT_FALSE(insert("5004", 100));
  EXPECT_TRUE(insert("5002", 100));
  EXPECT_EQ(table_.at(0, 5), peer("5002"));
}

TEST_F(RoutingTableTest, PeersOfUnknownDistanceFillEmptyEntriesOnly) {
  EXPECT_TRUE(insert("5003", unknown_distance));
  EXPECT_FALSE(insert("5002", unknown_distance));
  EXPECT_TRUE(insert("5004", 1'000'000));
  EXPECT_FALSE(insert("5001", unknown_distance));
  EXPECT_EQ(table_.at(0, 5), peer("5004"));
}

TEST_F(RoutingTableTest, AnEntryMovesWithItsDistance) {
  EXPECT_TRUE(insert("5000", 100));
  EXPECT_FALSE(insert("5000", 300));
  EXPECT_EQ(table_.distance_at({0, 5}), 300U);
  EXPECT_FALSE(insert("5000", unknown_distance));
  EXPECT_EQ(table_.distance_at({0, 5}), 300U);
  EXPECT_TRUE(insert("5001", 200));
}

TEST_F(RoutingTableTest, AnotherIncarnationTakesTheEntryWhateverItsDistance) {
  EXPECT_TRUE(insert("5000", 100));
  const PeerRef reborn = peer("5000", 2);
  EXPECT_TRUE(table_.insert(reborn, peers_.id(reborn), unknown_distance));
  EXPECT_EQ(table_.at(0, 5), reborn);
}

TEST_F(RoutingTableTest, TheNodeItselfHasNoEntry) {
  EXPECT_FALSE(insert("1234", 1));
  EXPECT_FALSE(table_.would_take(peer("1234"), *Id::from_hex("1234"), 1));
  EXPECT_TRUE(table_.empty());
}

TEST_F(RoutingTableTest, WouldTakeSaysWhatInsertDoes) {
  insert("5003", 100);
  EXPECT_TRUE(table_.would_take(peer("6000"), *Id::from_hex("6000"), unknown_distance));
  EXPECT_TRUE(table_.would_take(peer("5002"), *Id::from_hex("5002"), 100));
  EXPECT_FALSE(table_.would_take(peer("5004"), *Id::from_hex("5004"), 100));
  EXPECT_FALSE(table_.would_take(peer("5003"), *Id::from_hex("5003"), 1));
}

TEST_F(RoutingTableTest, RemovesOnlyThePeerThatStandsThere) {
  insert("5003", 100);
  EXPECT_FALSE(table_.remove(peer("5004"), *Id::from_hex("5004")));
  EXPECT_TRUE(table_.remove(peer("5003"), *Id::from_hex("5003")));
  EXPECT_FALSE(table_.contains(peer("5003"), *Id::from_hex("5003")));
  EXPECT_TRUE(table_.empty());
}

TEST_F(RoutingTableTest, RowsComeInColumnOrder) {
  for (const char* id : {"9000", "2000", "f000", "1100", "1300", "1230"}) insert(id, 7);
  ASSERT_EQ(table_.row(0).size(), 3U);
  EXPECT_EQ(table_.row(0)[0].peer, peer("2000"));
  EXPECT_EQ(table_.row(0)[2].peer, peer("f000"));
  EXPECT_EQ(table_.row(1).size(), 2U);
  EXPECT_TRUE(table_.row(2).empty());
  EXPECT_EQ(table_.row(3).size(), 1U);
  EXPECT_EQ(table_.rows(), 4U);
  EXPECT_EQ(table_.all().size(), 6U);
}

TEST_F(RoutingTableTest, TellsTheClosestOfARow) {
  insert("2000", 30);
  insert("3000", unknown_distance);
  insert("4000", 10);
  insert("5000", 30);
  insert("1300", 1);
  EXPECT_EQ(table_.closest_in_row(0, 2), (std::vector{peer("4000"), peer("2000")}));
  EXPECT_EQ(table_.closest_in_row(0, 9).back(), peer("3000")) << "never measured: the last";
  EXPECT_EQ(table_.closest_in_row(1, 2), std::vector{peer("1300")});
  EXPECT_TRUE(table_.closest_in_row(2, 2).empty());
}

TEST(RoutingTable, WorksForEveryWidthOfDigits) {
  for (const unsigned b : {1U, 2U, 5U, 8U}) {
    PeerTable peers;
    const Id self = Id::hash_of("self");
    RoutingTable table(self, b, peers);
    for (int i = 0; i < 500; ++i) {
      const PeerRef peer = peers.intern({Id::hash_of(std::to_string(i)), 1, "", {}, 0, ""});
      const Id& id = peers.id(peer);
      table.insert(peer, id, 1000 - static_cast<std::uint32_t>(i));
      EXPECT_EQ(table.at(table.slot_of(id)), peer) << "later ones are closer";
    }
    for (const auto& entry : table.all()) {
      EXPECT_EQ(entry.row, shared_prefix_length(self, peers.id(entry.peer), b));
      EXPECT_EQ(entry.column, peers.id(entry.peer).digit(entry.row, b));
    }
  }
}

}  // namespace
}  // namespace canopy::pastry
