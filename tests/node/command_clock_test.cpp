#include "node/command_clock.hpp"

#include <gtest/gtest.h>

namespace canopy::node {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const MonoTime boot{seconds(100)};
const WallTime wall{hours(500'000)};

TEST(CommandClock, FollowsTheBootClock) {
  CommandClock clock({}, boot, wall);
  EXPECT_EQ(clock.at(boot, wall), wall);
  EXPECT_EQ(clock.at(boot + seconds(7), wall + seconds(7)), wall + seconds(7));
  EXPECT_EQ(clock.when(wall + seconds(9)), boot + seconds(9));
}

TEST(CommandClock, StartsBehindTheLatestCommand) {
  CommandClock clock(wall + hours(1), boot, wall);
  EXPECT_EQ(clock.at(boot, wall), wall + hours(1));
}

TEST(CommandClock, DoesNotJumpWithTheMachinesClock) {
  CommandClock clock({}, boot, wall);
  EXPECT_EQ(clock.at(boot + minutes(1), wall + hours(1)), wall + seconds(63));
  EXPECT_EQ(clock.at(boot + minutes(2), wall - hours(1)), wall + seconds(63 + 57));
}

TEST(CommandClock, MeetsWallTimeAndStaysThere) {
  CommandClock clock(wall + seconds(3), boot, wall);
  EXPECT_EQ(clock.at(boot + minutes(2), wall + minutes(2)), wall + minutes(2));
  EXPECT_EQ(clock.at(boot + minutes(3), wall + minutes(3)), wall + minutes(3));
}

TEST(CommandClock, NeverGoesBack) {
  CommandClock clock({}, boot, wall);
  WallTime last = clock.at(boot, wall);
  for (int i = 1; i < 10'000; ++i) {
    const WallTime now = clock.at(boot + Duration(i * 37), wall - milliseconds(i * 100));
    EXPECT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace canopy::node
