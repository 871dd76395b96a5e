#include "scribe/load_rule.hpp"

#include <gtest/gtest.h>

namespace canopy::scribe {
namespace {

TEST(LoadRule, WhoHasRoomRelievesAnybody) {
  EXPECT_TRUE(relieves(63, 65, 64));
  EXPECT_FALSE(relieves(64, 65, 64));
}

TEST(LoadRule, WhoHasTooManyRelievesThoseWithFarMore) {
  EXPECT_TRUE(relieves(4, 6, 3));
  EXPECT_FALSE(relieves(5, 6, 3));
  EXPECT_TRUE(relieves(800, 1000, 64));
  EXPECT_FALSE(relieves(900, 1000, 64));
}

TEST(LoadRule, NobodyMovesBackAndForth) {
  for (std::size_t giver = 1; giver < 200; ++giver) {
    for (std::size_t taker = 0; taker < giver; ++taker) {
      if (relieves(taker, giver, 3) && taker >= 3) {
        EXPECT_FALSE(relieves(giver - 1, taker + 1, 3));
      }
    }
  }
}

}  // namespace
}  // namespace canopy::scribe
