#include "scribe/routed.hpp"

#include <gtest/gtest.h>

#include "scribe/group_name.hpp"

namespace canopy::scribe {
namespace {

class RoutedTest : public testing::Test {
 protected:
  bool fits(const wire::Routed& message) const { return consistent(message, peers_, 160, 10); }

  wire::Routed publish(const Id& publisher) const {
    wire::Publish publish;
    publish.group = Id::hash_of("prices");
    publish.id = {publisher, 1, 1};
    publish.origin = ann_;
    publish.body = Buffer::copy_of("0123456789");
    return {.key = publish.group, .body = std::make_shared<const wire::RoutedBody>(publish)};
  }

  PeerTable peers_;
  const PeerRef ann_ = peers_.intern({.id = Id::hash_of("ann")});
};

TEST_F(RoutedTest, HasToBeForTheKeyThatItWasRoutedTo) {
  const wire::GroupName name{"prices", "ann"};
  const Id group = group_id(name, 160);
  wire::Routed message;
  message.key = group;
  message.body = std::make_shared<const wire::RoutedBody>(wire::GroupJoin{group, name, ann_});
  EXPECT_TRUE(fits(message));
  message.key = Id::hash_of("elsewhere");
  EXPECT_FALSE(fits(message));
}

TEST_F(RoutedTest, HasToKeepTheBoundOfContents) {
  const wire::Routed message = publish(Id::hash_of("ann"));
  EXPECT_TRUE(consistent(message, peers_, 160, 10));
  EXPECT_FALSE(consistent(message, peers_, 160, 9));
}

TEST_F(RoutedTest, HasToBearANumberOfItsOrigin) {
  EXPECT_TRUE(fits(publish(Id::hash_of("ann"))));
  EXPECT_FALSE(fits(publish(Id::hash_of("bob"))));
}

}  // namespace
}  // namespace canopy::scribe
