#include "scribe/sequencer.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace canopy::scribe::test {
namespace {

TEST(EpochAbove, IsAboveAndDiffersByRootAndLife) {
  const Id a = Id::hash_of("a");
  const Id b = Id::hash_of("b");
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t highest = random.next() >> (1 + random.below(63));
    EXPECT_GT(epoch_above(highest, a, 1), highest);
    EXPECT_NE(epoch_above(highest, a, 1), epoch_above(highest, b, 1));
    EXPECT_NE(epoch_above(highest, a, 1), epoch_above(highest, a, 2));
  }
  EXPECT_GT(epoch_above(0, a, 1), 0u);
}

TEST(EpochAbove, NeverGoesBack) {
  const std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(epoch_above(top, Id::hash_of("a"), 1), top);
  EXPECT_GT(epoch_above(top - 5, Id::hash_of("a"), 1), top - 5);
}

TEST(RootSequencer, CountsFromOne) {
  RootSequencer sequencer(7);
  EXPECT_EQ(sequencer.last(), (wire::Position{7, 0}));
  std::vector<wire::Position> places;
  const auto note = [&](const wire::Publish&, const wire::Position& place) {
    places.push_back(place);
  };
  for (int i = 0; i < 3; ++i) sequencer.submit({}, note);
  EXPECT_EQ(places, (std::vector<wire::Position>{{7, 1}, {7, 2}, {7, 3}}));
  EXPECT_EQ(sequencer.last(), (wire::Position{7, 3}));
}

}  // namespace
}  // namespace canopy::scribe::test
