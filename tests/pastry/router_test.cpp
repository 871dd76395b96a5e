#include "pastry/router.hpp"

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"

namespace canopy::pastry::test {
namespace {

Config four_leaves() {
  Config config;
  config.leaf_set_size = 4;
  config.id_bits = 16;
  return config;
}

// Node 8000, leaves 7e00, 7f00, 8100 and 8200, and a table beyond them.
class RouterTest : public ::testing::Test, protected Part {
 protected:
  RouterTest() : Part(four_leaves()) {
    for (const char* id : {"7e00", "7f00", "8100", "8200"}) leaf(id);
  }
  PeerRef next(std::string_view key, bool except_key = false) {
    return router.next_hop(*Id::from_hex(key), {.key = except_key}).peer;
  }

  Prober prober{state};
  Router router{state, prober};
};

TEST_F(RouterTest, AKeyWithinTheLeafSetGoesToTheClosestLeaf) {
  entry("2000");
  EXPECT_EQ(next("8101"), env.peer("8100"));
  EXPECT_EQ(next("7e10"), env.peer("7e00"));
  EXPECT_FALSE(next("8000"));
  EXPECT_FALSE(next("7f81"));
}

TEST_F(RouterTest, ATieGoesToTheSmallerId) {
  entry("2000");
  EXPECT_FALSE(next("8080")) << "8000 against 8100";
  EXPECT_EQ(next("7f80"), env.peer("7f00")) << "against 8000";
}

TEST_F(RouterTest, AKeyBeyondGoesToTheTablesEntry) {
  entry("2000");
  EXPECT_EQ(next("2fff"), env.peer("2000"));
  EXPECT_EQ(router.next_hop(*Id::from_hex("2fff"), {}).rule, Router::Rule::table);
}

TEST_F(RouterTest, WithoutAnEntryTheNumericallyClosestOfAllKnownThatShareAsMuchIsNext) {
  entry("1000");
  entry("4000");
  EXPECT_EQ(next("2f00"), env.peer("4000"));
  const PeerRef near = env.peer("3a00");
  state.neighborhood.insert(near, state.id(near), 10);
  EXPECT_EQ(next("2f00"), near);
  EXPECT_EQ(router.next_hop(*Id::from_hex("2f00"), {}).rule, Router::Rule::rare);
}

TEST_F(RouterTest, TheRareCaseNeverShortensTheSharedPrefix) {
  entry("2000");
  // 9000 is closer to 8f00 than 8200, but shares nothing with it.
  const PeerRef closer = env.peer("9000");
  state.neighborhood.insert(closer, state.id(closer), 10);
  EXPECT_EQ(next("8f00"), env.peer("8200"));
}

TEST_F(RouterTest, ALeafSetOfEverybodyKnownCoversTheWholeRing) {
  EXPECT_EQ(next("0000"), env.peer("7e00")) << "of all four, 7e00 is the closest to 0000";
  EXPECT_EQ(next("fe00"), env.peer("8200"));
  EXPECT_EQ(router.next_hop(*Id::from_hex("0000"), {}).rule, Router::Rule::leaf_set);
  entry("2000");
  EXPECT_EQ(next("0000"), env.peer("2000")) << "somebody beyond the leaves is known";
}

TEST_F(RouterTest, ASuspectEntryIsAvoided) {
  const PeerRef silent = entry("2000");
  entry("3000");
  prober.probe(silent, goal::life);
  EXPECT_EQ(next("2fff"), env.peer("3000"));
  prober.heard(silent);
  EXPECT_EQ(next("2fff"), silent);
}

TEST_F(RouterTest, ASuspectRootStaysTheRootUntilItIsEvicted) {
  entry("2000");
  prober.probe(env.peer("8100"), goal::life);
  EXPECT_EQ(next("8101"), env.peer("8100"));
}

TEST_F(RouterTest, IfOnlySuspectsAreLeftOneOfThemIsTried) {
  const PeerRef silent = entry("2000");
  for (const Leaf& leaf : state.leaves.all()) prober.probe(leaf.peer, goal::life);
  prober.probe(silent, goal::life);
  EXPECT_EQ(next("2fff"), silent);
}

TEST_F(RouterTest, AJoinIsNotRoutedToItsJoiner) {
  const PeerRef joiner = entry("2000");
  entry("1000");
  EXPECT_EQ(next("2000"), joiner);
  EXPECT_EQ(next("2000", true), env.peer("1000"));
  EXPECT_FALSE(next("8100", true)) << "8000 and 8200 are as close: the smaller id";
}

TEST(Router, AloneIsTheRootOfEverything) {
  Part part;
  const Prober prober{part.state};
  const Router router{part.state, prober};
  EXPECT_FALSE(router.next_hop(*Id::from_hex("01"), {}).peer);
  EXPECT_FALSE(router.next_hop(part.state.self_id, {}).peer);
}

}  // namespace
}  // namespace canopy::pastry::test
