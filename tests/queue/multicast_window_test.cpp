#include "queue/multicast_window.hpp"

#include <set>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace canopy::queue {
namespace {

using Place = MulticastWindow::Place;

TEST(MulticastWindow, KnowsWhatCameInAnyOrder) {
  MulticastWindow window;
  for (const std::uint64_t sequence : {10U, 12U, 9U, 11U})
    EXPECT_EQ(window.take(sequence), Place::first) << sequence;
  for (const std::uint64_t sequence : {9U, 10U, 11U, 12U})
    EXPECT_EQ(window.take(sequence), Place::again) << sequence;
}

TEST(MulticastWindow, CountsTheHolesBetweenTheLowestAndTheHighest) {
  MulticastWindow window;
  EXPECT_EQ(window.holes(), 0U);
  window.take(10);
  EXPECT_EQ(window.holes(), 0U);
  window.take(14);
  EXPECT_EQ(window.holes(), 3U);
  window.take(12);
  EXPECT_EQ(window.holes(), 2U);
  window.take(8);
  EXPECT_EQ(window.holes(), 3U);
  window.take(8);
  EXPECT_EQ(window.holes(), 3U);
}

TEST(MulticastWindow, TakesNothingThatIsOlderThanItsMemory) {
  MulticastWindow window;
  constexpr std::uint64_t runs = MulticastWindow::runs_max;
  for (std::uint64_t run = 1; run <= runs + 1; ++run) window.take(10 * run);
  EXPECT_EQ(window.take(10), Place::unsure);
  EXPECT_EQ(window.take(9), Place::unsure);
  EXPECT_EQ(window.take(0), Place::unsure);
  EXPECT_EQ(window.take(20), Place::again);
  EXPECT_EQ(window.take(11), Place::first);
  EXPECT_EQ(window.take(11), Place::unsure);
  EXPECT_EQ(window.take(20), Place::again);
}

TEST(MulticastWindow, ARunOfAnyLengthIsRememberedInAFewBytes) {
  MulticastWindow window;
  constexpr std::uint64_t last = 100'000;
  for (std::uint64_t sequence = 2; sequence <= last; sequence += 2) window.take(sequence);
  for (std::uint64_t sequence = last - 1; sequence > last - 2'000; sequence -= 2)
    EXPECT_EQ(window.take(sequence), Place::first);
  MulticastWindow whole;
  for (std::uint64_t sequence = 1; sequence <= last; ++sequence) whole.take(sequence);
  EXPECT_EQ(whole.take(1), Place::again);
  EXPECT_EQ(whole.take(last), Place::again);
  EXPECT_EQ(whole.holes(), 0U);
  EXPECT_LT(encode(whole).size(), 16U);
}

TEST(MulticastWindow, IsTheSameFromItsBytes) {
  Random random(7);
  MulticastWindow window;
  std::set<std::uint64_t> taken;
  for (int i = 0; i < 8'000; ++i) {
    const std::uint64_t sequence = 1 + random.next() % 6'000;
    const Place place = window.take(sequence);
    EXPECT_EQ(place == Place::first, place != Place::unsure && !taken.contains(sequence));
    if (place == Place::first) {
      EXPECT_TRUE(taken.insert(sequence).second);
    }
    const std::string bytes = encode(window);
    auto decoded = decode_multicast_window(bytes);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(encode(*decoded), bytes);
    EXPECT_EQ(decoded->holes(), window.holes());
    window = std::move(*decoded);
  }
}

TEST(MulticastWindow, RefusesOtherBytes) {
  MulticastWindow window;
  for (const std::uint64_t sequence : {300U, 301U, 900U}) window.take(sequence);
  const std::string bytes = encode(window);
  EXPECT_FALSE(decode_multicast_window(bytes + "x"));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_multicast_window(bytes.substr(0, size))) << size;
}

}  // namespace
}  // namespace canopy::queue
