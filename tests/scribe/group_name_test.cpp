#include "scribe/group_name.hpp"

#include <gtest/gtest.h>

#include "scribe/routed.hpp"

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

TEST(Routed, HasToBeForTheKeyThatItWasRoutedTo) {
  const wire::GroupName name{"prices", "ann"};
  const Id group = group_id(name, 160);
  wire::Routed message;
  message.key = group;
  message.body = std::make_shared<const wire::RoutedBody>(wire::GroupJoin{group, name, PeerRef{1}});
  EXPECT_TRUE(consistent(message, 160, 100));
  message.key = Id::hash_of("elsewhere");
  EXPECT_FALSE(consistent(message, 160, 100));
}

TEST(Routed, HasToKeepTheBoundOfContents) {
  wire::Publish publish;
  publish.group = Id::hash_of("prices");
  publish.body = Buffer::copy_of("0123456789");
  const wire::Routed message{.key = publish.group,
                             .body = std::make_shared<const wire::RoutedBody>(publish)};
  EXPECT_TRUE(consistent(message, 160, 10));
  EXPECT_FALSE(consistent(message, 160, 9));
}

}  // namespace
}  // namespace canopy::scribe
