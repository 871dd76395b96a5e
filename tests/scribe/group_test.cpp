#include "scribe/group.hpp"

#include <gtest/gtest.h>

#include "scribe/cast.hpp"

namespace canopy::scribe {
namespace {

using namespace std::chrono_literals;

const PeerRef self{0};
const PeerRef root{1};
const PeerRef parent{2};
const PeerRef other_member{3};
const PeerRef child{4};

class GroupTest : public testing::Test {
 protected:
  void attach() {
    group.begin_join(7);
    ASSERT_EQ(group.on_join_ack(parent, 7, {root, parent}, self), AckVerdict::attached);
  }
  Group group{std::make_shared<const wire::GroupName>(wire::GroupName{"prices", "ann"})};
};

TEST_F(GroupTest, IsInTheTreeOnceAParentHasAcknowledged) {
  EXPECT_FALSE(group.in_tree());
  attach();
  EXPECT_TRUE(group.in_tree());
  EXPECT_EQ(group.parent(), parent);
  EXPECT_EQ(group.path_below(self, 64), (wire::Peers{root, parent, self}));
}

TEST_F(GroupTest, TakesOneParentOnly) {
  attach();
  EXPECT_EQ(group.on_join_ack(other_member, 7, {root, other_member}, self), AckVerdict::surplus);
  EXPECT_EQ(group.parent(), parent);
}

TEST_F(GroupTest, DoesNotTakeAnAnswerToAnEarlierSearch) {
  group.begin_join(7);
  group.begin_join(8);
  EXPECT_EQ(group.on_join_ack(parent, 7, {root, parent}, self), AckVerdict::surplus);
  EXPECT_FALSE(group.in_tree());
}

TEST_F(GroupTest, RefusesAParentBelowItself) {
  group.begin_join(7);
  EXPECT_EQ(group.on_join_ack(parent, 7, {root, self, parent}, self), AckVerdict::loop);
  EXPECT_FALSE(group.in_tree());
}

TEST_F(GroupTest, TellsAChangedPathFromTheSame) {
  attach();
  EXPECT_EQ(group.on_root_path(parent, {root, parent}, self), PathVerdict::unchanged);
  EXPECT_EQ(group.on_root_path(parent, {other_member, parent}, self), PathVerdict::changed);
  EXPECT_EQ(group.on_root_path(other_member, {root, other_member}, self), PathVerdict::ignored);
  EXPECT_EQ(group.on_root_path(parent, {root, self, parent}, self), PathVerdict::loop);
  EXPECT_EQ(group.on_join_ack(parent, 7, {root, parent}, self), AckVerdict::path_changed);
}

TEST_F(GroupTest, TellsChildrenTheNearestAncestorsOfALongPath) {
  group.begin_join(7);
  group.on_join_ack(parent, 7, {root, other_member, child, parent}, self);
  EXPECT_EQ(group.path_below(self, 3), (wire::Peers{child, parent, self}));
}

TEST_F(GroupTest, RemembersItsPathWhileItLooksForAnotherParent) {
  attach();
  group.lose_parent();
  EXPECT_FALSE(group.in_tree());
  EXPECT_TRUE(group.on_root_path(parent));  // still not to be adopted
  EXPECT_TRUE(group.on_root_path(root));
  EXPECT_FALSE(group.on_root_path(other_member));
}

TEST_F(GroupTest, BelievesItsParentOnly) {
  attach();
  EXPECT_EQ(group.judge(parent, start), SenderVerdict::parent);
  EXPECT_EQ(group.judge(other_member, start), SenderVerdict::stray);
}

TEST_F(GroupTest, BelievesAnybodyWhileItLooksForAParent) {
  group.begin_join(7);
  EXPECT_EQ(group.judge(other_member, start), SenderVerdict::tolerated);
}

TEST_F(GroupTest, BelievesTheFormerParentForAWhile) {
  attach();
  group.lose_parent();
  group.begin_join(8);
  group.on_join_ack(other_member, 8, {root, other_member}, self);
  group.welcome_former_until(start + 1s);
  EXPECT_EQ(group.judge(parent, start), SenderVerdict::tolerated);
  EXPECT_EQ(group.judge(parent, start + 1s), SenderVerdict::stray);
}

TEST_F(GroupTest, OwesTheLostParentOneLeave) {
  attach();
  EXPECT_FALSE(group.take_untold_parent());
  group.lose_parent();
  EXPECT_EQ(group.take_untold_parent(), parent);
  EXPECT_FALSE(group.take_untold_parent());
}

TEST_F(GroupTest, OwesAFailedParentNothing) {
  attach();
  group.drop_parent();
  EXPECT_FALSE(group.take_untold_parent());
}

TEST_F(GroupTest, IsNeededByItsMemberItsChildrenOrItsRole) {
  EXPECT_FALSE(group.needed());
  group.member = true;
  EXPECT_TRUE(group.needed());
  group.member = false;
  group.children.adopt(child, 1, start);
  EXPECT_TRUE(group.needed());
  group.children.remove(child);
  group.become_searching();
  EXPECT_TRUE(group.needed());
  group.step_down();
  EXPECT_FALSE(group.needed());
}

TEST_F(GroupTest, HasNoPathAboveItAsTheRoot) {
  attach();
  group.lose_parent();
  group.become_root();
  EXPECT_EQ(group.path_below(self, 64), wire::Peers{self});
  EXPECT_FALSE(group.on_root_path(root));
  EXPECT_EQ(group.judge(other_member, start), SenderVerdict::stray);
  group.hand_over();
  EXPECT_TRUE(group.in_tree());
  EXPECT_EQ(group.judge(other_member, start), SenderVerdict::tolerated);
}

TEST_F(GroupTest, SeesAMessageForTheFirstTimeOnce) {
  const wire::MessageId id{Id::hash_of("ann"), 1, 1};
  EXPECT_TRUE(group.first_sight(id, 16));
  EXPECT_FALSE(group.first_sight(id, 16));
}

TEST_F(GroupTest, CountsWhatItHasSeenFromWhenItWasAttachedOrBecameTheRoot) {
  attach();
  group.first_sight({Id::hash_of("ann"), 1, 1}, 16);
  EXPECT_EQ(group.seen_since_attached(), 1U);
  group.lose_parent();
  group.become_root();
  EXPECT_EQ(group.seen_since_attached(), 0U);
  group.first_sight({Id::hash_of("ann"), 1, 2}, 16);
  group.hand_over();
  EXPECT_EQ(group.seen_since_attached(), 1U);
}

}  // namespace
}  // namespace canopy::scribe
