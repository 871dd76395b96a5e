// Numbers of members, told up the tree, and presence, shown down: right whatever
// befalls the tree, soon after it has come to rest.
#include <algorithm>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/tree_test.hpp"

namespace canopy::scribe::test {
namespace {

class MemberCountsTest : public TreeTest {
 protected:
  std::size_t true_number() { return listeners().size(); }

  MemberCount counted() {
    const auto [error, count] = net.members(outsider(), prices);
    EXPECT_FALSE(error) << error.message();
    return count;
  }

  void expect_right_within(Duration limit) {
    EXPECT_TRUE(net.run_until([&] { return right(); }, limit))
        << "the root counts " << counted().members << " of " << true_number();
  }
  bool right() {
    const auto roots = net.roots(group);
    if (roots.size() != 1) return false;
    return net[roots.front()].scribe().view(group)->below.members == true_number();
  }

  void watch(PeerRef ref) {
    net[ref].scribe().watch(group, true);
    watchers.push_back(ref);
  }
  bool all_watchers_right() {
    return std::ranges::all_of(watchers, [this](PeerRef ref) {
      const Box& box = net[ref];
      if (!box.alive) return true;
      return !box.presences.empty() && box.presences.back().members == true_number();
    });
  }
  void expect_shown_within(Duration limit) {
    EXPECT_TRUE(net.run_until([&] { return all_watchers_right(); }, limit));
    for (const PeerRef ref : watchers) {
      if (net[ref].alive && !net[ref].presences.empty()) {
        EXPECT_EQ(net[ref].presences.back().members, true_number()) << net.table()[ref].name;
      }
    }
  }
  // Looks at the root's number all the time.
  void look_for(Duration span) {
    for (const MonoTime end = net.now() + span; net.now() < end; net.run_for(5ms)) {
      for (const PeerRef ref : net.roots(group)) {
        const MemberCount count = net[ref].scribe().view(group)->below;
        if (!count.complete) continue;
        const std::size_t members = net.members(group).size();
        ASSERT_LE(count.members, members) << "counted twice, at " << net.table()[ref].name;
        if (stable) {
          ASSERT_EQ(count.members, members);
        }
      }
    }
  }
  std::uint64_t moved() {
    std::uint64_t moves = 0;
    for (Box* box : net.live()) moves += box->scribe().counters().relocations;
    return moves;
  }
  // What the watcher was told of names since then.
  wire::MemberChanges told_since(PeerRef watcher, std::size_t from) {
    wire::MemberChanges all;
    const auto& told = net[watcher].presences;
    for (std::size_t i = from; i < told.size(); ++i) {
      const wire::MemberChanges& one = told[i].changes;
      all.joined.insert(all.joined.end(), one.joined.begin(), one.joined.end());
      all.left.insert(all.left.end(), one.left.begin(), one.left.end());
      all.more_joined += one.more_joined;
      all.more_left += one.more_left;
    }
    return all;
  }
  PeerRef some_forwarder() { return net.forwarders(group).front(); }

  void drop_words(bool really) {
    net.lost = nullptr;
    if (!really) return;
    net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
      return std::holds_alternative<wire::MemberWords>(message) ||
             std::holds_alternative<wire::PresenceUpdate>(message);
    };
  }

  std::vector<PeerRef> watchers;
  bool stable = false;  // nobody has come or gone for a while
};

TEST_P(MemberCountsTest, TheRootKnowsHowManyThereAre) {
  grow(40);
  net.run_for(3s);
  const MemberCount count = counted();
  EXPECT_EQ(count.members, joined.size());
  EXPECT_TRUE(count.complete);
}

TEST_P(MemberCountsTest, AGroupThatNobodyKnowsHasNoNumber) {
  net.build(5);
  const PeerRef ref = net.live().front()->ref;
  EXPECT_EQ(net.members(ref, prices).first, errc::no_such_group);
  ASSERT_FALSE(net.create(ref, prices));
  const auto [error, count] = net.members(ref, prices);
  EXPECT_FALSE(error);
  EXPECT_EQ(count.members, 0u);
  EXPECT_TRUE(count.complete);
}

TEST_P(MemberCountsTest, WhoComesAndGoesIsCounted) {
  grow(40);
  for (std::size_t i = 0; i < 10; ++i) net[joined[i]].scribe().leave(group);
  expect_right_within(5s);
  EXPECT_EQ(counted().members, joined.size() - 10);
  net.run_for(20s);  // and the tree has taken out who forwards for one alone
  EXPECT_TRUE(counted().complete);
  for (std::size_t i = 0; i < 5; ++i) ASSERT_FALSE(net.join(joined[i], prices));
  expect_right_within(5s);
  EXPECT_EQ(counted().members, joined.size() - 5);
}

TEST_P(MemberCountsTest, AQuietGroupCostsNothing) {
  grow(40);
  net.run_for(30s);
  const std::uint64_t words = net.sent("MemberWords");
  net.run_for(60s);
  EXPECT_EQ(net.sent("MemberWords"), words);
  EXPECT_EQ(net.sent("PresenceUpdate"), 0u);
}

TEST_P(MemberCountsTest, ManyGroupsShareAWord) {
  grow(40);
  net.run_for(5s);
  const std::uint64_t before = net.sent("MemberWords");
  Box& box = net[refs[0]];
  for (int i = 0; i < 200; ++i) {
    box.scribe().join({"many-" + std::to_string(i), "ann"}, [](boost::system::error_code) {});
  }
  net.run_for(10s);
  EXPECT_GE(box.scribe().groups().size(), 200u);
  std::uint64_t words = 0;
  for (Box* one : net.live()) words += one->scribe().counters().member_words_sent;
  EXPECT_LT(net.sent("MemberWords") - before, words * 4 / 5);
}

TEST_P(MemberCountsTest, AFailedForwarderLeavesTheNumberRight) {
  grow(40);
  net.kill(some_forwarder());
  net.run_for(10s);
  expect_right_within(20s);
  EXPECT_FALSE(counted().complete);
  net.run_for(net.config.scribe.child_expiry + 20s);
  expect_right_within(1s);
  EXPECT_TRUE(counted().complete);
}

TEST_P(MemberCountsTest, AFailedMemberIsNotCounted) {
  grow(40);
  net.kill(joined[3]);
  net.kill(joined[7]);
  expect_right_within(70s);
}

TEST_P(MemberCountsTest, ANewRootCountsThemAnew) {
  grow(40);
  net.kill(root());
  net.run_for(10s);
  expect_right_within(30s);
  EXPECT_FALSE(counted().complete);
  net.run_for(net.config.scribe.child_expiry + 20s);
  expect_right_within(1s);
  EXPECT_TRUE(counted().complete);
}

TEST_P(MemberCountsTest, ARootThatDepartsHandsThemOver) {
  grow(40);
  net[root()].peer->depart();
  net.run_for(5s);
  expect_right_within(10s);
}

TEST_P(MemberCountsTest, MovedChildrenAreCountedOnce) {
  net.config.scribe.children_entries_max = 3;
  grow(40);
  net.run_for(30s);
  expect_right_within(10s);
}

// --- What a complete number promises ---

TEST_P(MemberCountsTest, ACompleteNumberCountsNobodyTwice) {
  net.config.scribe.children_entries_max = 2;
  net.build(40);
  for (Box* box : net.live()) refs.push_back(box->ref);
  for (std::size_t i = 0; i < refs.size(); ++i) {
    if (i % 3 == 0) continue;
    net[refs[i]].scribe().join(prices, [](boost::system::error_code) {});
    joined.push_back(refs[i]);
    look_for(200ms);
  }
  EXPECT_GT(moved(), 5u);
  look_for(6s);
  stable = true;
  look_for(40s);
  EXPECT_TRUE(net[root()].scribe().view(group)->below.complete);
}

TEST_P(MemberCountsTest, WhoLosesItsParentIsCountedOnceWhereTheNumberIsComplete) {
  grow(40);
  net.run_for(6s);
  stable = true;
  net.kill(some_forwarder());
  look_for(30s);
  net[some_forwarder()].peer->depart();
  look_for(90s);
  EXPECT_TRUE(net[root()].scribe().view(group)->below.complete);
}

TEST_P(MemberCountsTest, UnderANewRootACompleteNumberIsRight) {
  grow(40);
  net.run_for(6s);
  const bool member = net[root()].scribe().view(group)->member;
  stable = !member;
  net[root()].peer->depart();
  look_for(30s);
  stable = true;
  look_for(90s);
  EXPECT_TRUE(counted().complete);
}

// While it sleeps its children find other parents, and then it counts them still.
TEST_P(MemberCountsTest, AParentThatWakesUpIsNotSureOfItsChildren) {
  grow(40);
  net.run_for(6s);
  stable = true;
  const PeerRef sleeper = some_forwarder();
  for (const Duration span : {3000ms, 20000ms}) {
    net.hang(sleeper);
    look_for(span);
    net.wake_up(sleeper);
    look_for(15s);
  }
  look_for(100s);
  EXPECT_TRUE(net[root()].scribe().view(group)->below.complete);
}

TEST_P(MemberCountsTest, AJoinAloneCountsNobody) {
  grow(40);
  net.run_for(6s);
  const PeerRef stray = outsider();
  const PeerRef parent = net[root()].scribe().view(group)->children.front();
  net[parent].peer->receive(stray, wire::GroupJoin{group, prices, stray, 77, 64});
  look_for(2s);
  EXPECT_EQ(counted().members, joined.size());
}

TEST_P(MemberCountsTest, LostWordsAreToldAgain) {
  grow(40);
  watch(joined[0]);
  net.run_for(3s);
  drop_words(true);
  for (std::size_t i = 5; i < 12; ++i) net[joined[i]].scribe().leave(group);
  ASSERT_FALSE(net.join(refs[0], prices));
  net.run_for(5s);
  drop_words(false);
  expect_right_within(15s);
  expect_shown_within(15s);
  net.run_for(20s);  // and it comes to rest
  const std::uint64_t words = net.sent("MemberWords");
  net.run_for(20s);
  EXPECT_EQ(net.sent("MemberWords"), words);
}

TEST_P(MemberCountsTest, ANumberWithPartsUnknownIsNotComplete) {
  grow(40);
  const PeerRef known = root();
  const PeerRef child = outsider();
  // As a peer of an earlier version would have it: it never says how many are below it.
  net[known].peer->receive(child, wire::GroupJoin{group, prices, child, 77, 64});
  EXPECT_FALSE(net[known].scribe().view(group)->below.complete);
}

// --- Who is told ---

TEST_P(MemberCountsTest, WhoMayNotJoinAClosedGroupIsToldNothing) {
  net.build(30);
  for (Box* box : net.live()) {
    if (box->ref != root()) refs.push_back(box->ref);
  }
  const auto key = std::make_shared<const SigningKey>(sha256("a secret of ours"));
  const auto listed = [&](std::initializer_list<std::size_t> who) {
    wire::Grant grant{false, {}, {}};
    for (const std::size_t i : who) grant.peers.push_back(net.table().id(refs[i]));
    return grant;
  };
  wire::AccessList list;
  list.join = listed({1, 2});
  list.join.keys.push_back(key->public_key());
  list.manage = listed({0});
  ASSERT_FALSE(net.create(refs[0], prices, list).first);
  ASSERT_FALSE(net.join(refs[1], prices));
  ASSERT_FALSE(net.join(refs[3], prices, key));
  net.run_for(6s);
  for (const std::size_t i : {0u, 1u, 2u, 3u}) {
    const auto [error, count] = net.members(refs[i], prices);
    EXPECT_FALSE(error) << i;
    EXPECT_EQ(count.members, 2u);
  }
  EXPECT_EQ(net.members(refs[5], prices).first, errc::denied);
  EXPECT_EQ(net.members(root(), prices).first, errc::denied);
  EXPECT_EQ(net.members(refs[5], prices, std::make_shared<const SigningKey>(sha256("x"))).first,
            errc::denied);
  EXPECT_EQ(net.members(refs[5], prices, key).second.members, 2u);
  // Nor who is in its tree, by whichever of its peers.
  for (const PeerRef at : {root(), refs[1], refs[3]}) {
    for (const bool by_token : {false, true}) {
      std::optional<boost::system::error_code> seen;
      net[refs[5]].scribe().tree(group, at == root() ? PeerRef{} : at, by_token ? key : nullptr,
                                 [&](auto error, const wire::TreeReply& reply) {
                                   seen = error;
                                   EXPECT_EQ(reply.in_tree, by_token);
                                 });
      EXPECT_TRUE(net.run_until([&] { return seen.has_value(); }, 5s));
      EXPECT_EQ(seen, by_token ? boost::system::error_code() : errc::denied);
    }
  }
}

// --- Presence ---

TEST_P(MemberCountsTest, TheFirstEventTellsTheNumber) {
  grow(30);
  watch(joined[0]);
  watch(joined[5]);
  expect_shown_within(3s);
  for (const PeerRef ref : watchers) {
    ASSERT_EQ(net[ref].presences.size(), 1u);
    EXPECT_TRUE(net[ref].presences[0].complete);
    EXPECT_TRUE(net[ref].presences[0].changes.joined.empty());
  }
}

TEST_P(MemberCountsTest, WatchersAreToldWhoCameAndWhoWent) {
  grow(30);
  watch(joined[0]);
  watch(joined[5]);
  net.run_for(3s);
  ASSERT_FALSE(net.join(refs[0], prices));
  net.run_for(3s);
  net[joined[8]].scribe().leave(group);
  net.run_for(3s);
  expect_shown_within(1s);
  for (const PeerRef ref : watchers) {
    const wire::MemberChanges told = told_since(ref, 1);
    EXPECT_EQ(told.joined, wire::Peers{refs[0]});
    EXPECT_EQ(told.left, wire::Peers{joined[8]});
    EXPECT_EQ(told.more_joined, 0u);
    EXPECT_EQ(told.more_left, 0u);
  }
}

TEST_P(MemberCountsTest, ADeadMemberIsNamed) {
  grow(30);
  net.run_for(2s);
  PeerRef victim;
  for (const PeerRef ref : joined) {
    if (ref != root() && net[ref].scribe().view(group)->children.empty()) victim = ref;
  }
  watch(joined[0] == victim ? joined[1] : joined[0]);
  net.run_for(3s);
  net.kill(victim);
  expect_shown_within(70s);
  EXPECT_EQ(told_since(watchers[0], 1).left, wire::Peers{victim});
}

TEST_P(MemberCountsTest, ManyChangesMakeFewEvents) {
  grow(40);
  watch(joined[0]);
  net.run_for(3s);
  const std::size_t before = net[joined[0]].presences.size();
  for (std::size_t i = 2; i < 20; ++i) {
    net[joined[i]].scribe().leave(group);
    net.run_for(100ms);
  }
  net.run_for(3s);
  expect_shown_within(1s);
  EXPECT_LE(net[joined[0]].presences.size() - before, 5u);
}

TEST_P(MemberCountsTest, TheLastOfABranchIsNamed) {
  grow(40);
  watch(joined[0]);
  net.run_for(6s);
  const PeerRef forwarder = some_forwarder();
  const wire::Peers below = net[forwarder].scribe().view(group)->children;
  for (const PeerRef ref : below) net[ref].scribe().leave(group);
  net.run_for(3s);
  expect_shown_within(1s);
  const wire::MemberChanges told = told_since(joined[0], 1);
  for (const PeerRef ref : below) {
    if (ref == joined[0] || std::ranges::count(joined, ref) == 0) continue;
    EXPECT_EQ(std::ranges::count(told.left, ref), 1);
  }
  EXPECT_EQ(told.more_left, 0u);
}

TEST_P(MemberCountsTest, UpdatesGoWhereTheyAreWanted) {
  grow(40);
  watch(joined[0]);
  net.run_for(3s);
  const std::uint64_t before = net.sent("PresenceUpdate");
  const std::size_t depth = net[joined[0]].scribe().view(group)->root_path.size();
  net[joined[4]].scribe().leave(group);
  net.run_for(3s);
  expect_shown_within(1s);
  EXPECT_LE(net.sent("PresenceUpdate") - before, 2 * depth + 2);
  net[joined[0]].scribe().watch(group, false);
  net.run_for(3s);
  const std::uint64_t ended = net.sent("PresenceUpdate");
  net[joined[6]].scribe().leave(group);
  net.run_for(3s);
  EXPECT_EQ(net.sent("PresenceUpdate"), ended);
}

TEST_P(MemberCountsTest, WatchersAreRightWhateverFails) {
  grow(40);
  for (const std::size_t i : {0u, 5u, 9u, 14u}) watch(joined[i]);
  net.run_for(3s);
  net.kill(some_forwarder());
  net.run_for(20s);
  expect_shown_within(60s);
  net.kill(root());
  net.run_for(20s);
  expect_shown_within(60s);
  net[root()].peer->depart();
  net.run_for(10s);
  expect_shown_within(60s);
}

// Whoever sees a number and then names can add up.
TEST_P(MemberCountsTest, NumbersAndNamesAgree) {
  net.config.scribe.children_entries_max = 2;
  grow(40);
  net.run_for(20s);
  watch(joined[0]);
  watch(joined[7]);
  net.run_for(2s);
  for (std::size_t i = 0; i < 12; ++i) {
    net[refs[3 * i]].scribe().join(prices, [](boost::system::error_code) {});
    net.run_for(Duration(i * 37ms));
    if (i % 3 == 0) net[joined[i + 9]].scribe().leave(group);
  }
  net.run_for(20s);
  expect_shown_within(1s);
  for (const PeerRef ref : watchers) {
    const std::vector<Presence>& told = net[ref].presences;
    EXPECT_TRUE(told.front().changes.joined.empty());
    for (std::size_t i = 1; i < told.size(); ++i) {
      const wire::MemberChanges& who = told[i].changes;
      EXPECT_EQ(told[i].members + who.left.size() + who.more_left,
                told[i - 1].members + who.joined.size() + who.more_joined);
    }
    const wire::MemberChanges all = told_since(ref, 1);
    EXPECT_GE(all.joined.size(), 6u);  // but for what was told while a watcher moved
  }
}

// A failure that takes no member away is no news of any.
TEST_P(MemberCountsTest, WhoLosesItsParentHasNotLeft) {
  grow(40);
  watch(joined[0]);
  net.run_for(3s);
  net.kill(some_forwarder());
  net.run_for(20s);
  const wire::MemberChanges told = told_since(joined[0], 1);
  EXPECT_TRUE(told.left.empty());
  EXPECT_EQ(told.more_left, told.more_joined);
}

INSTANTIATE_TEST_SUITE_P(Seeds, MemberCountsTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace canopy::scribe::test
