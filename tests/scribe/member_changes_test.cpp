// Who came and went, gathered.
#include "scribe/member_changes.hpp"

#include <gtest/gtest.h>

namespace canopy::scribe {
namespace {

const PeerRef ann{1};
const PeerRef ben{2};

TEST(MemberChanges, WhoComesAndGoesIsNotNamed) {
  wire::MemberChanges changes;
  came(changes, ann);
  went(changes, ann);
  went(changes, ben);
  came(changes, ben);
  EXPECT_TRUE(nothing(changes));
}

TEST(MemberChanges, ATwiceNamedOneIsNamedOnce) {
  wire::MemberChanges changes;
  came(changes, ann);
  came(changes, ann);
  EXPECT_EQ(changes.joined, wire::Peers{ann});
  EXPECT_EQ(changes.more_joined, 0u);
}

TEST(MemberChanges, WhatHasNoRoomIsCounted) {
  wire::MemberChanges changes;
  std::size_t dropped = 0;
  for (std::uint32_t i = 1; i <= member_names_max + 3; ++i) dropped += came(changes, PeerRef{i});
  EXPECT_EQ(changes.joined.size(), member_names_max);
  EXPECT_EQ(changes.more_joined, 3u);
  EXPECT_EQ(dropped, 3u);
}

TEST(MemberChanges, MergedTheyAreThoseOfBoth) {
  wire::MemberChanges first{{ann}, {}, 1, 0};
  merge(first, {{}, {ann, ben}, 2, 3});
  EXPECT_TRUE(first.joined.empty());
  EXPECT_EQ(first.left, wire::Peers{ben});
  EXPECT_EQ(first.more_joined, 3u);
  EXPECT_EQ(first.more_left, 3u);
}

TEST(MemberChanges, NumbersAreExplainedByThoseWithoutAName) {
  wire::MemberChanges changes{{ann}, {}, 7, 7};
  explain(changes, 3, 5);  // one of the two has a name
  EXPECT_EQ(changes.more_joined, 1u);
  EXPECT_EQ(changes.more_left, 0u);
  explain(changes, 5, 3);  // somebody came, so three went
  EXPECT_EQ(changes.more_joined, 0u);
  EXPECT_EQ(changes.more_left, 3u);
  explain(changes, 4, 4);  // so somebody went
  EXPECT_EQ(changes.more_joined, 0u);
  EXPECT_EQ(changes.more_left, 1u);
  changes = {{}, {ann}, 0, 0};
  explain(changes, 4, 5);
  EXPECT_EQ(changes.more_joined, 2u);
  EXPECT_EQ(changes.more_left, 0u);
}

}  // namespace
}  // namespace canopy::scribe
