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

TEST(EpochAfter, LiesBelowWhateverAnotherRootBeginsMeanwhile) {
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const auto any_root = [&] { return Id::hash_of(std::to_string(random.next())); };
    const std::uint64_t parted =
        epoch_above(random.next() >> (30 + random.below(34)), any_root(), 1);
    const std::uint64_t other = epoch_above(parted, any_root(), 1);
    std::uint64_t own = parted;
    for (int handover = 0; handover < 20; ++handover) {
      const auto next = epoch_after(own, any_root(), random.next());
      ASSERT_TRUE(next);
      EXPECT_GT(*next, own);
      own = *next;
    }
    EXPECT_LT(own, other);
  }
}

TEST(EpochAfter, DiffersByRoot) {
  const std::uint64_t closed = epoch_above(0, Id::hash_of("a"), 1);
  EXPECT_NE(epoch_after(closed, Id::hash_of("a"), 1), epoch_after(closed, Id::hash_of("b"), 1));
}

TEST(EpochAfter, EndsWithTheLastHandoverThatItCanCount) {
  std::uint64_t epoch = epoch_above(0, Id::hash_of("a"), 1);
  int handovers = 0;
  while (const auto next = epoch_after(epoch, Id::hash_of("b"), 1)) {
    ASSERT_GT(*next, epoch);
    epoch = *next;
    ++handovers;
  }
  EXPECT_EQ(handovers, 4095);
  EXPECT_GT(epoch_above(epoch, Id::hash_of("b"), 1), epoch);
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
