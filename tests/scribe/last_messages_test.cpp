// Whoever joins can have the group's last message, as long as anybody in the tree
// has it.
#include <algorithm>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/last_store.hpp"
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
  wire::LastReply forged(const wire::Position& stamp) {
    wire::LastReply reply;
    reply.group = group;
    reply.found = true;
    reply.stamp = stamp;
    (of_an_order(stamp) ? reply.epoch : reply.reign) = stamp.epoch;
    reply.sequence = stamp.sequence;
    reply.body = Buffer::copy_of("forged");
    return reply;
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

// Its epochs go on from those of the order before.
TEST_P(LastMessagesTest, AGroupThatIsCreatedAnewInAnotherModeHasOne) {
  net.build(40);
  for (Box* box : net.live()) refs.push_back(box->ref);
  ASSERT_FALSE(net.create(refs[0], prices, wire::GroupMode::ordered));
  ASSERT_FALSE(net.publish(refs[0], prices, "of the order").error);
  ASSERT_FALSE(net.remove(refs[0], prices));
  ASSERT_FALSE(net.create(refs[0], prices));
  ASSERT_FALSE(net.publish(refs[0], prices, "of no order").error);
  for (const PeerRef ref : refs) EXPECT_EQ(last_at(ref), "of no order");
}

// --- Peers that lie ---

TEST_P(LastMessagesTest, AChildPutsNoMessageAheadOfTheRoots) {
  grow(40);
  publish("news");
  net.run_for(1s);
  const wire::Position news = net[root()].scribe().view(group)->last;
  for (const PeerRef ref : {root(), net.forwarders(group).front()}) {
    const PeerRef child = net[ref].scribe().view(group)->children.front();
    for (const wire::Position& stamp :
         {wire::Position{~std::uint64_t{0} >> 32, best_effort_stamp | 1},
          wire::Position{news.epoch + 1, best_effort_stamp | 1},
          wire::Position{news.epoch, news.sequence + 1}}) {
      net[ref].peer->receive(child, forged(stamp));
      net[ref].peer->receive(child, wire::GroupJoin{group,
                                                    prices,
                                                    child,
                                                    0x7ffffff0,
                                                    64,
                                                    {},
                                                    false,
                                                    wire::Claim::carries,
                                                    nullptr,
                                                    stamp});
      net.run_for(200ms);
      EXPECT_EQ(net.last(ref, prices)->body.view(), "news");
      EXPECT_EQ(last_at(newcomer()), "news");
    }
  }
  net.run_for(10s);
  for (const PeerRef ref : joined) EXPECT_EQ(net.last(ref, prices)->body.view(), "news");
  EXPECT_GT(net[root()].scribe().counters().last_refused, 0u);
}

// Whatever place the message itself has would count once it is kept.
TEST_P(LastMessagesTest, AStampThatIsNotTheMessagesOwnIsRefused) {
  grow(30);
  publish("news");
  net.run_for(1s);
  const PeerRef dying = root();
  net.kill(dying);
  net.run_for(5s);
  expect_sound_within(30s);
  const wire::Position news = net[root()].scribe().view(group)->last;
  wire::LastReply lie = forged({news.epoch, news.sequence + 1});
  lie.reign = std::uint64_t{1} << 62;
  const auto malformed = net[root()].scribe().counters().malformed;
  net[root()].peer->receive(net[root()].scribe().view(group)->children.front(), lie);
  EXPECT_EQ(net[root()].scribe().counters().malformed, malformed + 1);
  EXPECT_EQ(last_at(newcomer()), "news");
}

TEST_P(LastMessagesTest, NorInAnOrderedGroup) {
  grow(40, wire::GroupMode::ordered);
  publish("news");
  net.run_for(1s);
  const wire::Position news = net[root()].scribe().view(group)->last;
  const PeerRef child = net[root()].scribe().view(group)->children.front();
  net[root()].peer->receive(child, forged({news.epoch, news.sequence + 1}));
  net[root()].peer->receive(child, forged({news.epoch + 1, 1}));
  net.run_for(1s);
  EXPECT_EQ(net.last(root(), prices)->body.view(), "news");
  EXPECT_EQ(last_at(newcomer()), "news");
}

// --- The end ---

TEST_P(LastMessagesTest, WhoLeavesTheRingIsToldOfNoMessage) {
  grow(30);
  const PeerRef asker = joined[3] == root() ? joined[4] : joined[3];
  net.hang(net[asker].scribe().view(group)->parent);
  std::vector<boost::system::error_code> results;
  const auto note = [&](boost::system::error_code error, const std::optional<wire::Multicast>&) {
    results.push_back(error);
  };
  net[asker].scribe().last(group, note);
  net.run_for(100ms);
  EXPECT_TRUE(results.empty());
  net[asker].peer->depart();
  net.run_for(10ms);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results.front(), errc::shutting_down);
  net[asker].scribe().last(group, note);
  net.run_for(10ms);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results.back(), errc::shutting_down);
}

TEST_P(LastMessagesTest, WithoutAnAnswerNobodySaysThatThereIsNone) {
  grow(30);
  const PeerRef asker = joined[3] == root() ? joined[4] : joined[3];
  net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::LastReply>(message);
  };
  std::optional<boost::system::error_code> result;
  net[asker].scribe().last(group, [&](boost::system::error_code error,
                                      const std::optional<wire::Multicast>&) { result = error; });
  net.run_for(net.config.scribe.last_timeout + 1s);
  EXPECT_EQ(result, errc::timed_out);
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
  net[giver].peer->receive(stranger, forged({~std::uint64_t{0} >> 32, 1}));
  const auto found = net.last(giver, prices);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->body.view(), "news");
}

INSTANTIATE_TEST_SUITE_P(Seeds, LastMessagesTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace canopy::scribe::test
