#include "sim/timing_wheel.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace canopy::sim {
namespace {

MonoTime at_us(std::int64_t us) { return MonoTime(Duration(us)); }

TEST(TimingWheel, is_empty_at_first) {
  TimingWheel wheel;
  EXPECT_TRUE(wheel.empty());
  EXPECT_FALSE(wheel.pop(never));
}

TEST(TimingWheel, keeps_an_event_until_its_time) {
  TimingWheel wheel;
  wheel.schedule({at_us(5'000'000), 7, 8, 9});
  EXPECT_FALSE(wheel.pop(at_us(4'999'999)));
  const auto event = wheel.pop(at_us(5'000'000));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->at, at_us(5'000'000));
  EXPECT_EQ(event->subject, 7U);
  EXPECT_EQ(event->detail, 8U);
  EXPECT_EQ(event->kind, 9U);
  EXPECT_TRUE(wheel.empty());
}

TEST(TimingWheel, hands_out_equal_times_in_scheduling_order) {
  TimingWheel wheel;
  for (std::uint32_t i = 0; i < 100; ++i) wheel.schedule({at_us(70'000'000), i, 0, 0});
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(wheel.pop(never)->subject, i);
}

TEST(TimingWheel, takes_events_for_this_very_moment_while_it_is_handed_out) {
  TimingWheel wheel;
  wheel.schedule({at_us(2'000), 1, 0, 0});
  wheel.schedule({at_us(2'000), 2, 0, 0});
  wheel.schedule({at_us(2'001), 4, 0, 0});
  EXPECT_EQ(wheel.pop(never)->subject, 1U);
  wheel.schedule({at_us(2'000), 3, 0, 0});
  EXPECT_EQ(wheel.pop(never)->subject, 2U);
  EXPECT_EQ(wheel.pop(never)->subject, 3U);
  EXPECT_EQ(wheel.pop(never)->subject, 4U);
}

TEST(TimingWheel, takes_events_before_one_that_was_looked_at_but_is_not_due) {
  TimingWheel wheel;
  wheel.schedule({at_us(900'000'000), 2, 0, 0});
  EXPECT_FALSE(wheel.pop(at_us(1'000'000)));
  wheel.schedule({at_us(1'000'000), 1, 0, 0});
  EXPECT_EQ(wheel.pop(never)->subject, 1U);
  EXPECT_EQ(wheel.pop(never)->subject, 2U);
}

// Against a multimap, which keeps equal keys in insertion order.
TEST(TimingWheel, agrees_with_an_ordered_map_over_all_levels) {
  Random random(42);
  TimingWheel wheel;
  std::multimap<MonoTime, std::uint32_t> expected;
  MonoTime now{};
  std::uint32_t next = 0;
  for (int round = 0; round < 200'000; ++round) {
    if (random.chance(0.52) || expected.empty()) {
      const std::uint64_t span = std::uint64_t{1} << random.below(42);
      const MonoTime at = now + Duration(static_cast<std::int64_t>(random.below(span)));
      wheel.schedule({at, next, 0, 0});
      expected.emplace(at, next++);
    } else {
      const MonoTime limit =
          now +
          Duration(static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(40))));
      const auto event = wheel.pop(limit);
      ASSERT_EQ(event.has_value(), expected.begin()->first <= limit);
      if (!event) {
        now = limit;
        continue;
      }
      ASSERT_EQ(event->at, expected.begin()->first);
      ASSERT_EQ(event->subject, expected.begin()->second);
      now = event->at;
      expected.erase(expected.begin());
    }
    ASSERT_EQ(wheel.size(), expected.size());
  }
}

}  // namespace
}  // namespace canopy::sim
