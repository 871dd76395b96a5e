#include "base/quota.hpp"

#include <gtest/gtest.h>

namespace canopy {
namespace {

TEST(Quota, BoundsTheNumber) {
  Quota quota(2, 100);
  quota.take(1);
  EXPECT_TRUE(quota.has_room_for(1));
  quota.take(1);
  EXPECT_FALSE(quota.has_room_for(0));
  quota.give_back(1);
  EXPECT_TRUE(quota.has_room_for(1));
}

TEST(Quota, BoundsTheBytes) {
  Quota quota(10, 100);
  quota.take(60);
  EXPECT_TRUE(quota.has_room_for(40));
  EXPECT_FALSE(quota.has_room_for(41));
  quota.give_back(60);
  EXPECT_TRUE(quota.has_room_for(100));
}

TEST(Quota, LetsOneThingInThatIsTooLarge) {
  Quota quota(10, 100);
  EXPECT_TRUE(quota.has_room_for(1000));
  quota.take(1000);
  EXPECT_FALSE(quota.has_room_for(1));
}

TEST(Quota, OfNothingHasNoRoom) { EXPECT_FALSE(Quota(0, 100).has_room_for(1)); }

}  // namespace
}  // namespace canopy
