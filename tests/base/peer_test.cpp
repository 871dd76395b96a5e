#include "base/peer.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace canopy {
namespace {

PeerDescriptor peer(const std::string& name, std::uint64_t incarnation = 1) {
  return {.id = Id::hash_of(name),
          .incarnation = incarnation,
          .name = name,
          .addresses = {{"127.0.0.1", 7400}},
          .roles = role::storage,
          .zone = "a"};
}

TEST(PeerTable, InternsEqualDescriptorsOnce) {
  PeerTable table;
  const PeerRef first = table.intern(peer("one"));
  EXPECT_EQ(table.intern(peer("one")), first);
  EXPECT_NE(table.intern(peer("two")), first);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table[first], peer("one"));
  EXPECT_EQ(table.id(first), Id::hash_of("one"));
}

TEST(PeerTable, AnyOtherDescriptorOfTheSameIdIsAnotherPeerRef) {
  PeerTable table;
  const PeerRef first = table.intern(peer("one"));
  PeerDescriptor moved = peer("one");
  moved.addresses[0].port = 7401;
  PeerDescriptor rezoned = peer("one");
  rezoned.zone = "b";
  EXPECT_NE(table.intern(moved), first);
  EXPECT_NE(table.intern(rezoned), first);
  EXPECT_NE(table.intern(peer("one", 2)), first);
  EXPECT_EQ(table.size(), 4U);
}

TEST(PeerTable, FindsTheLatestIncarnation) {
  PeerTable table;
  EXPECT_FALSE(table.find(Id::hash_of("one")));
  table.intern(peer("one", 2));
  const PeerRef latest = table.intern(peer("one", 3));
  table.intern(peer("one", 1));
  EXPECT_EQ(table.find(Id::hash_of("one")), latest);
}

TEST(PeerTable, OfTheSameIncarnationTheLargestHandleIsFound) {
  PeerTable table;
  PeerDescriptor descriptor = peer("one");
  PeerRef last;
  for (std::uint16_t port = 1; port <= 5; ++port) {
    descriptor.addresses[0].port = port;
    last = table.intern(descriptor);
  }
  EXPECT_EQ(table.find(descriptor.id), last);
}

TEST(PeerTable, ADescriptorStaysWhereItIsWhileOthersCome) {
  PeerTable table;
  const PeerDescriptor& first = table[table.intern(peer("one"))];
  for (int i = 0; i < 1000; ++i) table.intern(peer("other-" + std::to_string(i)));
  EXPECT_EQ(first, peer("one"));
}

TEST(PeerTable, ASweepForgetsWhatIsNotInUseAndReusesItsHandles) {
  PeerTable table;
  std::vector<PeerRef> refs;
  for (int i = 0; i < 10; ++i) refs.push_back(table.intern(peer("peer-" + std::to_string(i))));
  const std::vector<PeerRef> in_use = {refs[7], refs[2], PeerRef(), refs[7]};
  table.sweep(in_use);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table[refs[2]], peer("peer-2"));
  EXPECT_EQ(table.find(Id::hash_of("peer-7")), refs[7]);
  EXPECT_FALSE(table.find(Id::hash_of("peer-3")));
  for (int i = 10; i < 18; ++i) {
    EXPECT_LT(table.intern(peer("peer-" + std::to_string(i))).index(), 10U);
  }
  EXPECT_EQ(table.size(), 10U);
  EXPECT_EQ(table[refs[2]], peer("peer-2"));
}

TEST(PeerTable, ASweepKeepsTheOtherIncarnationsOfAnId) {
  PeerTable table;
  const PeerRef kept = table.intern(peer("one", 1));
  table.intern(peer("one", 2));
  table.sweep(std::vector<PeerRef>{kept});
  EXPECT_EQ(table.find(Id::hash_of("one")), kept);
  EXPECT_EQ(table.size(), 1U);
}

TEST(PeerTableDeathTest, AForgottenPeerIsNotLookedUp) {
  PeerTable table;
  const PeerRef ref = table.intern(peer("one"));
  table.sweep({});
  EXPECT_DEATH(table[ref], "assertion failed");
  EXPECT_DEATH(table[PeerRef()], "assertion failed");
}

}  // namespace
}  // namespace canopy
