#include "scribe/lost_subtrees.hpp"

#include <gtest/gtest.h>

#include "scribe/cast.hpp"
#include "scribe/reach.hpp"

namespace canopy::scribe {
namespace {

using namespace std::chrono_literals;

constexpr wire::Position round(std::uint64_t number) { return {7, number}; }

class LostSubtreesTest : public testing::Test {
 protected:
  wire::Peers missing(const LostSubtrees& subtrees, std::uint64_t number, MonoTime now = start) {
    wire::Reach reach;
    subtrees.add_to(reach, round(number), now);
    more = reach.more;
    return reach.unreachable;
  }

  LostSubtrees lost;
  std::uint64_t more = 0;
};

TEST_F(LostSubtreesTest, ALostChildIsMissingInEveryRoundUntilItIsForgotten) {
  lost.lost(ann, start + 60s);
  EXPECT_EQ(missing(lost, 1), wire::Peers{ann});
  EXPECT_EQ(missing(lost, 1000), wire::Peers{ann});
  EXPECT_TRUE(lost.contains(ann, start + 59s));
  EXPECT_TRUE(missing(lost, 1, start + 60s).empty());
  lost.expire(start + 60s);
  EXPECT_TRUE(lost.empty());
}

TEST_F(LostSubtreesTest, AChildThatIsOutOfTheTreeIsMissingNoMore) {
  lost.lost(ann, start + 60s);
  lost.lost(bob, start + 60s);
  lost.settled(ann);
  EXPECT_EQ(missing(lost, 1), wire::Peers{bob});
}

TEST_F(LostSubtreesTest, AChildThatHasMovedIsMissingUpToTheRoundFromWhichItsParentAnswers) {
  lost.lost(ann, start + 60s);
  lost.moved(ann, round(5), start + 60s);
  EXPECT_EQ(missing(lost, 5), wire::Peers{ann});
  EXPECT_TRUE(missing(lost, 6).empty());
  lost.moved(ann, round(3), start + 60s);  // elsewhere again, whose parent lags behind
  EXPECT_EQ(missing(lost, 5), wire::Peers{ann});
}

TEST_F(LostSubtreesTest, AMoveBeforeAnyRoundLeavesNothing) {
  lost.moved(ann, {}, start + 60s);
  lost.lost(bob, start + 60s);
  lost.moved(bob, {}, start + 60s);
  EXPECT_TRUE(lost.empty());
}

TEST_F(LostSubtreesTest, WhatAChildHasAnsweredForPassesToItsParent) {
  LostSubtrees of_child;
  of_child.lost(ann, start + 60s);
  of_child.moved(bob, round(5), start + 30s);
  lost.inherit(of_child.legacy(start + 10s), start + 10s, start + 70s);
  EXPECT_EQ(missing(lost, 5, start + 11s), (wire::Peers{ann, bob}));
  EXPECT_EQ(missing(lost, 6, start + 11s), wire::Peers{ann});
  EXPECT_EQ(missing(lost, 5, start + 31s), wire::Peers{ann});
  EXPECT_TRUE(missing(lost, 5, start + 61s).empty());
}

TEST_F(LostSubtreesTest, OneThatIsAChildAlreadyIsMissingUpToNowOnly) {
  lost.inherit({{ann, every_round, 30'000, 1}, {bob, round(3), 30'000, 1}}, start, start + 60s);
  for (const PeerRef peer : {ann, bob, cid}) lost.bound(peer, round(5));
  EXPECT_EQ(missing(lost, 3), (wire::Peers{ann, bob}));
  EXPECT_EQ(missing(lost, 5), wire::Peers{ann});
  EXPECT_TRUE(missing(lost, 6).empty());
}

TEST_F(LostSubtreesTest, NobodyInheritsForLongerThanTheExpiryPeriod) {
  lost.inherit({{ann, every_round, 4'000'000'000, 1}}, start, start + 60s);
  EXPECT_TRUE(missing(lost, 1, start + 60s).empty());
}

TEST_F(LostSubtreesTest, TheOldRootsTreeIsMissingUntilThatIsAChild) {
  lost.root_lost(ann, start + 60s);
  lost.settled(ann);  // of its own, which says nothing of its tree
  EXPECT_EQ(missing(lost, 1), wire::Peers{ann});
  lost.root_settled();
  EXPECT_TRUE(lost.empty());
  lost.root_lost({}, start + 60s);
  EXPECT_TRUE(missing(lost, 1).empty());
  EXPECT_EQ(more, 1u);
}

TEST_F(LostSubtreesTest, WhatHasNoRoomIsCountedWithoutAName) {
  for (std::uint32_t i = 1; i <= LostSubtrees::named_max + 3; ++i) {
    lost.lost(PeerRef(i), start + 60s);
  }
  wire::Reach reach;
  lost.add_to(reach, round(1), start);
  EXPECT_EQ(reach.unreachable.size(), reach_peers_max);
  EXPECT_EQ(reach.unreachable.size() + reach.more, LostSubtrees::named_max + 3);
  EXPECT_EQ(lost.legacy(start).size(), LostSubtrees::named_max + 1);
}

TEST(Reach, AddsUpWhatChildrenSay) {
  wire::Reach reach{.members = 1};
  add(reach, ann, {.members = 3, .complete = true});
  EXPECT_TRUE(nothing_missed(reach));
  add(reach, bob, {.members = 2, .complete = false, .unreachable = {cid}, .more = 4});
  EXPECT_EQ(reach.members, 6u);
  EXPECT_EQ(reach.unreachable, wire::Peers{cid});
  EXPECT_EQ(reach.more, 4u);
  miss(reach, cid);
  EXPECT_EQ(reach.unreachable.size() + reach.more, 5u);
}

TEST(Reach, AChildThatIsNotCompleteIsNamedIfItNamesNobody) {
  wire::Reach reach;
  add(reach, bob, {.members = 2, .complete = false});
  EXPECT_EQ(reach.unreachable, wire::Peers{bob});
}

}  // namespace
}  // namespace canopy::scribe
