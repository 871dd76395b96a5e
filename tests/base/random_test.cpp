#include "base/random.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace canopy {
namespace {

// Worked out with another implementation of the published algorithms.
TEST(Random, GivesTheSequencesOfXoshiro256StarStar) {
  Random zero(0);
  for (const std::uint64_t expected :
       {11091344671253066420U, 13793997310169335082U, 1900383378846508768U, 7684712102626143532U}) {
    EXPECT_EQ(zero.next(), expected);
  }
}

TEST(Random, TheSameSeedGivesTheSameSequence) {
  Random a(42);
  Random b(42);
  Random c(43);
  unsigned equal_to_other_seed = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    const auto drawn = a.next();
    ASSERT_EQ(drawn, b.next());
    if (drawn == c.next()) ++equal_to_other_seed;
  }
  EXPECT_EQ(equal_to_other_seed, 0U);
}

TEST(Random, BelowStaysBelowAndReachesEveryValueEvenly) {
  Random random(7);
  std::array<unsigned, 10> counts{};
  for (unsigned i = 0; i < 100'000; ++i) ++counts.at(random.below(counts.size()));
  for (const unsigned count : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(random.below(1), 0U);
  const std::uint64_t large = (std::uint64_t{1} << 63) + 1;
  for (unsigned i = 0; i < 1000; ++i) ASSERT_LT(random.below(large), large);
}

TEST(Random, UnitStaysInItsHalfOpenRange) {
  Random random(8);
  double sum = 0;
  for (unsigned i = 0; i < 100'000; ++i) {
    const double drawn = random.unit();
    ASSERT_GE(drawn, 0.0);
    ASSERT_LT(drawn, 1.0);
    sum += drawn;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.01);
}

TEST(Random, ChanceIsNeverAtZeroAndAlwaysAtOne) {
  Random random(9);
  unsigned hits = 0;
  for (unsigned i = 0; i < 10'000; ++i) {
    ASSERT_FALSE(random.chance(0.0));
    ASSERT_TRUE(random.chance(1.0));
    if (random.chance(0.25)) ++hits;
  }
  EXPECT_NEAR(hits, 2500, 200);
}

TEST(Random, ExponentialHasItsMeanAndIsFinite) {
  Random random(10);
  double sum = 0;
  for (unsigned i = 0; i < 100'000; ++i) {
    const double drawn = random.exponential(3.0);
    ASSERT_GE(drawn, 0.0);
    ASSERT_TRUE(std::isfinite(drawn));
    sum += drawn;
  }
  EXPECT_NEAR(sum / 100'000, 3.0, 0.05);
}

TEST(Random, JitterStaysWithinItsShare) {
  Random random(11);
  const Duration span = std::chrono::seconds(1);
  Duration least = Duration::max();
  Duration most = Duration::min();
  for (unsigned i = 0; i < 10'000; ++i) {
    const Duration drawn = random.jittered(span, 0.2);
    least = std::min(least, drawn);
    most = std::max(most, drawn);
  }
  EXPECT_GE(least, std::chrono::milliseconds(800));
  EXPECT_LT(least, std::chrono::milliseconds(805));
  EXPECT_LE(most, std::chrono::milliseconds(1200));
  EXPECT_GT(most, std::chrono::milliseconds(1195));
  EXPECT_EQ(random.jittered(span, 0.0), span);
}

TEST(Random, DrawingFromAForkLeavesTheSequenceAlone) {
  Random a(12);
  Random b(12);
  Random fork_of_a = a.fork();
  Random fork_of_b = b.fork();
  EXPECT_EQ(fork_of_a.next(), fork_of_b.next());
  for (unsigned i = 0; i < 100; ++i) fork_of_a.next();
  EXPECT_EQ(a.next(), b.next());
}

}  // namespace
}  // namespace canopy
