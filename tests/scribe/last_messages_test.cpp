// Whoever joins can have the group's last message, as long as anybody in the tree
// has it.
#include <algorithm>

#include <gtest/gtest.h>

#include "scribe/tree_test.hpp"

namespace canopy::scribe::test {
namespace {

class LastMessagesTest : public TreeTest {
 protected:
  // Joins, and asks.
  std::string last_at(PeerRef ref) {
    EXPECT_FALSE(net.join(ref, prices));
    const auto found = net.last(ref, prices);
    return found ? std::string(found->body.view()) : "";
  }
  PeerRef newcomer() { return outsider(); }
  void publish(const std::string& text) {
    ASSERT_FALSE(net.publish(newcomer(), prices, text).error);
  }
};

TEST_P(LastMessagesTest, WhoJoinsGetsTheLastMessage) {
  grow(30);
  publish("old");
  publish("new");
  net.run_for(1s);
  EXPECT_EQ(last_at(newcomer()), "new");
  EXPECT_EQ(last_at(newcomer()), "new");
}

TEST_P(LastMessagesTest, WithoutAMessageTheAnswerComesAtOnce) {
  grow(30);
  net.run_for(5s);
  const PeerRef ref = newcomer();
  ASSERT_FALSE(net.join(ref, prices));
  const MonoTime before = net.now();
  EXPECT_FALSE(net.last(ref, prices));
  EXPECT_LT(net.now() - before, 1s);
}

TEST_P(LastMessagesTest, ManyWhoJoinLaterAskTheirParents) {
  net.build(40);
  for (Box* box : net.live()) refs.push_back(box->ref);
  ASSERT_FALSE(net.create(refs[0], prices));
  ASSERT_FALSE(net.publish(refs[0], prices, "config").error);
  for (std::size_t i = 0; i < refs.size(); ++i) EXPECT_EQ(last_at(refs[i]), "config");
  // Each of the tree is given it once; some are told that there is one.
  EXPECT_LE(net.sent("LastReply"), 2 * refs.size());
}

TEST_P(LastMessagesTest, ItOutlivesTheRoot) {
  grow(30);
  publish("news");
  net.run_for(1s);
  net.kill(root());
  net.run_for(5s);
  expect_sound_within(30s);
  EXPECT_EQ(last_at(newcomer()), "news");
}

TEST_P(LastMessagesTest, AJoinRightAfterTheRootsDeathGetsIt) {
  grow(30);
  publish("news");
  net.run_for(1s);
  const PeerRef ref = newcomer();
  net.kill(root());
  EXPECT_EQ(last_at(ref), "news");
}

// The others, and the next root, have only heard of it.
TEST_P(LastMessagesTest, OneWhoHasItIsEnough) {
  grow(30);
  publish("old");
  net.run_for(1s);
  const PeerRef dying = root();
  const PeerRef lucky = net[dying].scribe().view(group)->children.back();
  net.lost = [=](PeerRef from, PeerRef to, const wire::Message& message) {
    return std::holds_alternative<wire::Multicast>(message) && !(from == dying && to == lucky);
  };
  publish("new");
  net.run_for(500ms);
  net.kill(dying);
  net.lost = nullptr;
  net.run_for(20s);
  expect_sound_within(30s);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(last_at(newcomer()), "new");
}

TEST_P(LastMessagesTest, ARootWithoutMembersHandsItOver) {
  net.build(20);
  for (Box* box : net.live()) refs.push_back(box->ref);
  ASSERT_FALSE(net.create(refs[0], prices));
  ASSERT_FALSE(net.publish(refs[0], prices, "config").error);
  const PeerRef leaving = root();
  net[leaving].peer->depart();
  net.run_for(8s);
  for (const PeerRef ref : refs) {
    if (ref == leaving) continue;
    EXPECT_EQ(last_at(ref), "config");
    break;
  }
}

TEST_P(LastMessagesTest, AnOrderedGroupHasOne) {
  grow(30, wire::GroupMode::ordered);
  publish("old");
  publish("new");
  net.run_for(1s);
  EXPECT_EQ(last_at(newcomer()), "new");
  net.kill(root());
  net.run_for(20s);
  expect_sound_within(30s);
  EXPECT_EQ(last_at(newcomer()), "new");
}

TEST_P(LastMessagesTest, StrangersGetNone) {
  grow(40);
  publish("news");
  net.run_for(1s);
  const PeerRef stranger = newcomer();
  const PeerRef giver = joined[0];
  const std::uint64_t before = net.sent("LastReply");
  net[giver].peer->receive(stranger, wire::LastRequest{group});
  EXPECT_EQ(net.sent("LastReply"), before);
  // Nor is what they say believed.
  wire::LastReply forged;
  forged.group = group;
  forged.found = true;
  forged.stamp = {~std::uint64_t{0}, 1};
  forged.reign = ~std::uint64_t{0};
  forged.body = Buffer::copy_of("forged");
  net[giver].peer->receive(stranger, forged);
  const auto found = net.last(giver, prices);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->body.view(), "news");
}

INSTANTIATE_TEST_SUITE_P(Seeds, LastMessagesTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace canopy::scribe::test
