#include "scribe/group_name.hpp"

#include <gtest/gtest.h>

namespace canopy::scribe {
namespace {

TEST(GroupName, GivesTheIdOfTheWorkedExample) {
  EXPECT_EQ(group_id({"prices", "node-17"}, 16).to_hex(16), "150d");
}

TEST(GroupName, HasToBeThereAndShort) {
  EXPECT_TRUE(valid_name({"prices", ""}));
  EXPECT_FALSE(valid_name({"", "ann"}));
  EXPECT_FALSE(valid_name({std::string(256, 'x'), "ann"}));
  EXPECT_FALSE(valid_name({"prices", std::string(256, 'x')}));
}

TEST(GroupName, IsCheckedAgainstTheId) {
  EXPECT_TRUE(names({"prices", "node-17"}, group_id({"prices", "node-17"}, 160), 160));
  EXPECT_FALSE(names({"prices", "node-18"}, group_id({"prices", "node-17"}, 160), 160));
}

}  // namespace
}  // namespace canopy::scribe
