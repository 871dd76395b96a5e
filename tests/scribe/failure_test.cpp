// What failures, hangs, newcomers and departures cost.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/tree_test.hpp"

namespace canopy::scribe::test {
namespace {

constexpr Duration parent_timeout = 2s;  // two missed heartbeats of a second

class FailureTest : public TreeTest {
 protected:
  PeerRef forwarder_with_children() {
    PeerRef best;
    std::size_t most = 0;
    for (const PeerRef ref : net.forwarders(group)) {
      const std::size_t children = net[ref].scribe().view(group)->children.size();
      if (children > most) {
        best = ref;
        most = children;
      }
    }
    return best;
  }

  // Its messages come and go late, but for control traffic.
  void slow_down(PeerRef slow) {
    net.lag = [slow](PeerRef from, PeerRef to, const wire::Message& message) {
      const bool late =
          (from == slow || to == slow) && wire::traffic_class(message) == wire::TrafficClass::bulk;
      return late ? Duration(100ms) : Duration::zero();
    };
  }

  // When the last gap of any member ended, after `since`: from then on everybody
  // got everything.
  MonoTime whole_again(MonoTime since, MonoTime until) {
    MonoTime latest = since;
    for (const PeerRef ref : listeners()) {
      MonoTime before = since;
      for (const Delivered& message : net[ref].delivered) {
        if (message.at <= since || message.at > until) continue;
        if (message.at - before > 500ms) latest = std::max(latest, message.at);
        before = std::max(before, message.at);
      }
      if (until - before > 500ms) latest = until;  // it never came back
    }
    return latest;
  }
};

INSTANTIATE_TEST_SUITE_P(Seeds, FailureTest, testing::Values(1, 2, 3, 4, 5, 6));

TEST_P(FailureTest, MembersHearAgainSoonAfterAForwarderIsKilled) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(1s, publisher, wire::AckMode::none);
  const MonoTime then = net.now();
  net.kill(forwarder_with_children());
  publish_for(8s, publisher, wire::AckMode::none);
  EXPECT_LE(whole_again(then, net.now()) - then, 2 * parent_timeout);
  expect_no_duplicates();
  expect_sound_within(10s);
}

TEST_P(FailureTest, ARootThatDoesNotReachItsNeighborStaysTheOnlyOneAndIsHeardByAll) {
  grow(40);
  const PeerRef cut = root();
  const PeerRef neighbor = net[cut].peer->pastry().leaf_set().right();
  net.join(neighbor, prices);
  net.lost = [cut, neighbor](PeerRef from, PeerRef to, const wire::Message&) {
    return (from == cut && to == neighbor) || (from == neighbor && to == cut);
  };
  net.run_for(5s);
  const std::size_t before = published;
  for (int second = 0; second < 30; ++second) {
    publish_for(1s, neighbor, wire::AckMode::none, 100ms);
    EXPECT_EQ(net.roots(group), std::vector<PeerRef>{cut});
  }
  net.run_for(1s);
  for (const PeerRef ref : listeners()) expect_everything_at(ref, before, published);
  expect_no_duplicates();
  expect_sound_within(1s);
  EXPECT_GT(net.sent("Relay"), 0u);
}

TEST_P(FailureTest, MembersHearAgainSoonAfterAForwarderHangs) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(1s, publisher, wire::AckMode::none);
  const MonoTime then = net.now();
  net.hang(forwarder_with_children());
  publish_for(8s, publisher, wire::AckMode::none);
  EXPECT_LE(whole_again(then, net.now()) - then, 2 * parent_timeout);
  expect_no_duplicates();
}

TEST_P(FailureTest, ABusyGroupDoesNotWaitForTheHeartbeatsOfAForwarderThatHangs) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(3s, publisher, wire::AckMode::none, 5ms);
  const MonoTime then = net.now();
  net.hang(forwarder_with_children());
  publish_for(3s, publisher, wire::AckMode::none, 5ms);
  EXPECT_EQ(whole_again(then, net.now()) - then, 0s);
  expect_no_duplicates();
}

TEST_P(FailureTest, ABusyGroupGetsNothingTwiceFromAForwarderThatWakesLate) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(3s, publisher, wire::AckMode::none, 2ms);
  const PeerRef forwarder = forwarder_with_children();
  net.hang(forwarder);
  publish_for(900ms, publisher, wire::AckMode::none, 2ms);
  net.wake_up(forwarder);
  publish_for(2s, publisher, wire::AckMode::none, 2ms);
  net.run_for(2s);
  expect_no_duplicates();
}

TEST_P(FailureTest, APauseOfThePublisherCostsABusyGroupNoParent) {
  grow(40);
  const PeerRef publisher = outsider();
  for (int i = 0; i < 3; ++i) {
    publish_for(2s, publisher, wire::AckMode::none, 5ms);
    net.run_for(2s);
  }
  std::uint64_t asked = 0;
  for (const PeerRef ref : listeners()) {
    const Counters& counters = net[ref].scribe().counters();
    EXPECT_EQ(counters.parents_lost, 0U);
    asked += counters.quiet_parents_asked;
  }
  EXPECT_GT(asked, 0U);
}

TEST_P(FailureTest, MembersHearAgainSoonAfterTheRootIsKilled) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(1s, publisher, wire::AckMode::none);
  const MonoTime then = net.now();
  const PeerRef old_root = root();
  net.kill(old_root);
  publish_for(8s, publisher, wire::AckMode::none);
  EXPECT_LE(whole_again(then, net.now()) - then, 2 * parent_timeout);
  expect_no_duplicates();
  expect_sound_within(10s);
  EXPECT_NE(root(), old_root);
}

TEST_P(FailureTest, MembersHearAgainSoonAfterTheRootHangs) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(1s, publisher, wire::AckMode::none);
  const MonoTime then = net.now();
  net.hang(root());
  publish_for(8s, publisher, wire::AckMode::none);
  EXPECT_LE(whole_again(then, net.now()) - then, 2 * parent_timeout);
  expect_no_duplicates();
}

TEST_P(FailureTest, APublisherWithAnAckLosesNothingAtTheRootWhenTheRootDies) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(1s, publisher, wire::AckMode::root);
  int failed = 0;
  int answered = 0;
  net.kill(root());
  for (int i = 0; i < 100; ++i) {
    net[publisher].scribe().publish(prices, wire::AckMode::root, Buffer::copy_of("x"),
                                    [&](const PublishOutcome& outcome) {
                                      ++answered;
                                      if (outcome.error) ++failed;
                                    });
    net.run_for(20ms);
  }
  net.run_for(10s);
  EXPECT_EQ(answered, 100);
  EXPECT_EQ(failed, 0);
}

TEST_P(FailureTest, AWokenForwarderFindsItsPlaceWithoutDoubleDeliveries) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(1s, publisher, wire::AckMode::none);
  const PeerRef forwarder = forwarder_with_children();
  net.hang(forwarder);
  publish_for(6s, publisher, wire::AckMode::none);
  net.wake_up(forwarder);
  publish_for(4s, publisher, wire::AckMode::none);
  expect_sound_within(20s);
  expect_no_duplicates();
}

TEST_P(FailureTest, AWokenRootIsTheRootAgainAndTheTreeOne) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(1s, publisher, wire::AckMode::none);
  const PeerRef old_root = root();
  net.hang(old_root);
  publish_for(6s, publisher, wire::AckMode::none);
  EXPECT_NE(root(), old_root);
  net.wake_up(old_root);
  publish_for(10s, publisher, wire::AckMode::none);
  EXPECT_EQ(root(), old_root);
  expect_sound_within(20s);
  expect_no_duplicates();
  const std::size_t from = published;
  publish_for(1s, publisher, wire::AckMode::none);
  net.run_for(100ms);
  for (const PeerRef member : listeners()) expect_everything_at(member, from, published);
}

TEST_P(FailureTest, ACloserNewcomerTakesTheRootOverWithoutLossOrDuplicate) {
  grow(30);
  const std::vector<PeerRef> before = listeners();
  const PeerRef publisher = outsider();
  publish_for(500ms, publisher, wire::AckMode::none);
  int handovers = 0;
  for (int i = 0; handovers < 3 && i < 400; ++i) {
    const std::string name = "newcomer-" + std::to_string(i);
    const PeerRef old_root = root();
    const Id id = Id::hash_of(name);
    if (!closer_to(group, id, net.table().id(old_root))) continue;
    ++handovers;
    // Messages flow all the time that the newcomer joins.
    Box& box = net.begin_add(name);
    while (!box.peer->pastry().active()) publish_for(20ms, publisher, wire::AckMode::none);
    publish_for(3s, publisher, wire::AckMode::none);
    EXPECT_EQ(root(), box.ref);
    EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  }
  EXPECT_GE(handovers, 1);
  net.run_for(100ms);
  expect_no_duplicates();
  for (const PeerRef member : before) expect_everything_at(member, 0, published);
}

TEST_P(FailureTest, ADepartingForwarderLosesNothing) {
  net.config.scribe.path_collapse = false;
  grow(40);
  const std::vector<PeerRef> before = listeners();
  const PeerRef publisher = outsider();
  publish_for(500ms, publisher, wire::AckMode::none);
  for (int i = 0; i < 3; ++i) {
    const PeerRef leaver = forwarder_with_children();
    ASSERT_TRUE(leaver);
    net[leaver].peer->depart();
    publish_for(1s, publisher, wire::AckMode::none);
    EXPECT_TRUE(net[leaver].peer->departed());
    net.kill(leaver);
  }
  publish_for(3s, publisher, wire::AckMode::none);
  net.run_for(100ms);
  expect_no_duplicates();
  for (const PeerRef member : before) expect_everything_at(member, 0, published);
  expect_sound_within(5s);
}

// Its children find another parent long before the latest messages come through it.
TEST_P(FailureTest, ADepartingForwarderThatIsBehindLosesNothing) {
  net.config.scribe.path_collapse = false;
  grow(40);
  const std::vector<PeerRef> before = listeners();
  const PeerRef publisher = outsider();
  for (int i = 0; i < 3; ++i) {
    const PeerRef leaver = forwarder_with_children();
    ASSERT_TRUE(leaver);
    slow_down(leaver);
    publish_for(500ms, publisher, wire::AckMode::none);
    net[leaver].peer->depart();
    publish_for(1500ms, publisher, wire::AckMode::none);
    EXPECT_TRUE(net[leaver].peer->departed());
    net.kill(leaver);
  }
  net.run_for(1s);
  expect_no_duplicates();
  for (const PeerRef member : before) expect_everything_at(member, 0, published);
  expect_sound_within(5s);
}

class DepartingRootsTest : public FailureTest {
 protected:
  // Three, one after the other, each of which is behind with what has been published for
  // so long.
  void expect_nothing_lost_by_departures(Duration busy) {
    const PeerRef publisher = outsider();
    std::set<PeerRef> gone;
    const std::vector<PeerRef> before = listeners();
    for (int i = 0; i < 3; ++i) {
      const PeerRef leaver = root();
      gone.insert(leaver);
      slow_down(leaver);
      publish_for(busy, publisher, wire::AckMode::root);
      net[leaver].peer->depart();
      publish_for(1500ms, publisher, wire::AckMode::root);
      EXPECT_TRUE(net[leaver].peer->departed());
      net.kill(leaver);
    }
    net.run_for(3s);
    for (const PeerRef member : before) {
      if (!gone.contains(member)) expect_everything_at(member, 0, published);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Seeds, DepartingRootsTest, testing::Values(1, 2, 3, 4, 5, 6));

TEST_P(DepartingRootsTest, LoseNothingWhereTheyAreBehind) {
  grow(40);
  expect_nothing_lost_by_departures(500ms);
  expect_no_duplicates();
  expect_sound_within(5s);
}

// The next root remembers fewer messages than it has seen: what the old one still sends
// is none of those that it may have forgotten.
TEST_P(DepartingRootsTest, LoseNothingWhereTheGroupIsBusy) {
  net.config.scribe.duplicate_window = net.config.scribe.tree_duplicate_window = 48;
  grow(40);
  expect_nothing_lost_by_departures(1500ms);
}

// One message, and nothing after it that would show that it has come.
TEST_P(FailureTest, TheLastMessageBeforeADepartureArrives) {
  grow(40);
  const PeerRef leaver = forwarder_with_children();
  ASSERT_TRUE(leaver);
  slow_down(leaver);
  net.shout(outsider(), prices, "the last");
  net[leaver].peer->depart();
  EXPECT_TRUE(net.run_until([&] { return net[leaver].peer->departed(); }, 2s));
  for (const PeerRef member : listeners()) EXPECT_EQ(net[member].count("the last"), 1U);
}

TEST_P(FailureTest, ADepartingRootLosesNothing) {
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(500ms, publisher, wire::AckMode::none);
  std::set<PeerRef> gone;
  std::vector<PeerRef> before = listeners();
  for (int i = 0; i < 3; ++i) {
    const PeerRef leaver = root();
    gone.insert(leaver);
    net[leaver].peer->depart();
    publish_for(1s, publisher, wire::AckMode::none);
    EXPECT_TRUE(net[leaver].peer->departed());
    net.kill(leaver);
    EXPECT_NE(root(), leaver);
  }
  publish_for(3s, publisher, wire::AckMode::none);
  net.run_for(100ms);
  expect_no_duplicates();
  for (const PeerRef member : before) {
    if (!gone.contains(member)) expect_everything_at(member, 0, published);
  }
  expect_sound_within(5s);
}

TEST_P(FailureTest, ARootAndItsSuccessorsThatDepartAtOnceLoseNothing) {
  net.config.pastry.leaf_set_size = 8;  // fewer than half of one leave
  grow(40);
  const PeerRef publisher = outsider();
  publish_for(500ms, publisher, wire::AckMode::none);
  const wire::Peers leavers = net[root()].peer->pastry().closest(group, 3);
  const std::uint64_t joins_before = net.sent("GroupJoin");
  for (const PeerRef leaver : leavers) net[leaver].peer->depart();
  publish_for(2s, publisher, wire::AckMode::none);
  for (const PeerRef leaver : leavers) {
    EXPECT_TRUE(net[leaver].peer->departed());
    net.kill(leaver);
  }
  EXPECT_LT(net.sent("GroupJoin") - joins_before, 400U) << "they are tossed about";
  publish_for(3s, publisher, wire::AckMode::none);
  net.run_for(100ms);
  expect_no_duplicates();
  for (const PeerRef member : listeners()) expect_everything_at(member, 0, published);
  expect_sound_within(5s);
}

TEST_P(FailureTest, AWholeRingThatDepartsAtOnceWaitsForNobody) {
  grow(40);
  for (Box* box : net.live()) box->peer->depart();
  const auto gone = [](const Box* box) { return box->peer->departed(); };
  EXPECT_TRUE(net.run_until([&] { return std::ranges::all_of(net.live(), gone); }, 500ms));
}

TEST_P(FailureTest, ARestartedPeerIsANewOneToEverybody) {
  grow(30);
  const PeerRef member = net.members(group)[3];
  net.kill(member);
  Box& again = net.restart(member);
  ASSERT_FALSE(net.join(again.ref, prices));
  const std::string text = "hello again";
  net.shout(outsider(), prices, text);
  EXPECT_TRUE(net.run_until([&] { return again.count(text) == 1; }, 1s));
  expect_sound_within(70s);
}

TEST_P(FailureTest, TreesSurviveTheLossOfManyAtOnce) {
  grow(60);
  Random victims(GetParam());  // whatever the traffic before
  for (int i = 0; i < 15; ++i) net.kill(refs[victims.below(refs.size())]);
  expect_sound_within(30s);
  net.shout(outsider(), prices, "anybody there");
  net.run_for(2s);
  for (const PeerRef member : listeners()) EXPECT_EQ(net[member].count("anybody there"), 1u);
}

TEST_P(FailureTest, LossyLinksCostMessagesButNotTheTree) {
  grow(30);
  net.lost = [this](PeerRef, PeerRef, const wire::Message&) { return net.random().chance(0.05); };
  net.run_for(60s);
  net.lost = nullptr;
  expect_sound_within(30s);
}

}  // namespace
}  // namespace canopy::scribe::test
