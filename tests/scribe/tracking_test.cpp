// Who has a message, as its publisher is told: never complete while somebody who
// was in the tree has not got it.
#include "scribe/tracking.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/tree_test.hpp"

namespace canopy::scribe::test {
namespace {

class TrackingTest : public testing::TestWithParam<std::tuple<wire::GroupMode, std::uint64_t>> {
 protected:
  // A tracked message, with those who were members when it was published, and by
  // which of their joins.
  struct Tracked {
    std::string text;
    std::map<PeerRef, int> members;
    bool answered = false;
    PublishOutcome outcome;
  };

  TrackingTest() : net(std::get<1>(GetParam())) {}

  void grow(std::size_t count) {
    net.build(count);
    for (Box* box : net.live()) refs.push_back(box->ref);
    ASSERT_FALSE(net.create(refs[0], prices, std::get<0>(GetParam())));
    for (std::size_t i = 0; i < refs.size(); ++i) {
      if (i % 3 == 0) continue;
      join(refs[i]);
      ASSERT_TRUE(net.run_until([&] { return members.contains(refs[i]); }, 10s));
    }
    net.run_for(1s);
    ASSERT_GE(net.forwarders(group).size(), 2u);
  }

  void join(PeerRef ref) {
    net[ref].scribe().join(prices, [this, ref](boost::system::error_code error) {
      if (!error) members.try_emplace(ref, ++joins);
    });
  }
  void leave(PeerRef ref) {
    members.erase(ref);
    net[ref].scribe().leave(group);
  }

  PeerRef root() { return net.closest_live(group); }
  PeerRef outsider() {
    for (const PeerRef ref : refs) {
      if (net[ref].alive && !net[ref].hung && !net[ref].scribe().view(group)) return ref;
    }
    ADD_FAILURE() << "everybody is in the tree";
    return refs.front();
  }
  GroupView view(PeerRef ref) { return net[ref].scribe().view(group).value_or(GroupView{}); }
  PeerRef leaf() {
    for (const PeerRef ref : net.members(group)) {
      if (!view(ref).root && view(ref).children.empty()) return ref;
    }
    return {};
  }
  // The one with most children, that is not the root.
  PeerRef forwarder() {
    PeerRef best;
    for (const PeerRef ref : refs) {
      if (!net[ref].alive || view(ref).root || view(ref).children.empty()) continue;
      if (!best || view(ref).children.size() > view(best).children.size()) best = ref;
    }
    return best;
  }
  // Members below the peer, itself included.
  std::size_t members_below(PeerRef peer) {
    std::size_t count = 0;
    for (const PeerRef ref : net.members(group)) {
      const wire::Peers path = view(ref).root_path;
      count += ref == peer || std::ranges::find(path, peer) != path.end();
    }
    return count;
  }
  std::uint64_t counted(std::uint64_t Counters::*counter) {
    std::uint64_t sum = 0;
    for (Box* box : net.live()) sum += box->scribe().counters().*counter;
    return sum;
  }

  std::size_t having(const std::string& text) {
    std::size_t count = 0;
    for (const PeerRef ref : refs) count += net[ref].count(text) > 0;
    return count;
  }

  Tracked& track(PeerRef publisher, Duration within = 5s) {
    Tracked& tracked = *all.emplace_back(std::make_unique<Tracked>());
    tracked.text = "tracked " + std::to_string(all.size());
    tracked.members = members;
    net[publisher].scribe().publish(
        prices, wire::AckMode::members, Buffer::copy_of(tracked.text),
        [this, &tracked](const PublishOutcome& outcome) {
          tracked.outcome = outcome;
          tracked.answered = true;
          if (outcome.error) return;
          EXPECT_LE(outcome.reach.members, having(tracked.text)) << tracked.text;
          EXPECT_EQ(outcome.reach.complete, nothing_missed(outcome.reach));
          if (!outcome.reach.complete) return;
          for (const auto& [member, joined] : tracked.members) {
            const auto now = members.find(member);
            if (!net[member].alive || now == members.end() || now->second != joined) continue;
            EXPECT_EQ(net[member].count(tracked.text), 1u)
                << net.table()[member].name << " lacks " << tracked.text;
          }
        },
        {.within = within});
    return tracked;
  }
  const PublishOutcome& publish(PeerRef publisher, Duration within = 5s) {
    Tracked& tracked = track(publisher, within);
    net.run_until([&] { return tracked.answered; }, 90s);
    EXPECT_TRUE(tracked.answered);
    return tracked.outcome;
  }
  std::string text_of(const wire::Reach& reach) {
    std::string text = std::to_string(reach.members) + " members, " + std::to_string(reach.more) +
                       " more subtrees than";
    for (const PeerRef peer : reach.unreachable) text += " " + net.table()[peer].name;
    return text;
  }
  // Nothing is missing any more.
  void expect_complete() {
    const std::size_t expected = net.members(group).size();
    const PublishOutcome& outcome = publish(outsider());
    EXPECT_FALSE(outcome.error);
    EXPECT_TRUE(outcome.reach.complete) << text_of(outcome.reach);
    EXPECT_EQ(outcome.reach.members, expected);
  }
  void expect_no_duplicates() {
    for (const PeerRef ref : refs) {
      for (const auto& tracked : all) EXPECT_LE(net[ref].count(tracked->text), 1u);
    }
  }

  MiniNet net;
  const Id group = group_id(prices, 160);
  std::vector<PeerRef> refs;
  std::map<PeerRef, int> members;  // who has been told that it is one
  int joins = 0;
  std::vector<std::unique_ptr<Tracked>> all;
};

INSTANTIATE_TEST_SUITE_P(
    Groups, TrackingTest,
    testing::Combine(testing::Values(wire::GroupMode::best_effort, wire::GroupMode::ordered),
                     testing::Values(1, 2, 3, 4)),
    [](const auto& parameter) {
      const bool ordered = std::get<0>(parameter.param) == wire::GroupMode::ordered;
      return (ordered ? "ordered_" : "best_effort_") + std::to_string(std::get<1>(parameter.param));
    });

TEST_P(TrackingTest, EveryMemberIsCounted) {
  grow(40);
  for (int i = 0; i < 5; ++i) {
    const MonoTime before = net.now();
    expect_complete();
    EXPECT_LT(net.now() - before, 100ms);
  }
  EXPECT_EQ(counted(&Counters::tracked_repeated), 0u);
}

TEST_P(TrackingTest, ARootThatPublishesIsAnsweredAsOthersAre) {
  grow(30);
  const PublishOutcome& outcome = publish(root());
  EXPECT_TRUE(outcome.reach.complete);
  EXPECT_EQ(outcome.reach.members, net.members(group).size());
  EXPECT_EQ(outcome.root, root());
}

TEST_P(TrackingTest, AGroupWithoutMembersIsComplete) {
  net.build(5);
  for (Box* box : net.live()) refs.push_back(box->ref);
  ASSERT_FALSE(net.create(refs[0], prices, std::get<0>(GetParam())));
  const PublishOutcome& outcome = publish(refs[1]);
  EXPECT_FALSE(outcome.error);
  EXPECT_TRUE(outcome.reach.complete);
  EXPECT_EQ(outcome.reach.members, 0u);
}

TEST_P(TrackingTest, AGroupThatNobodyKnowsIsAnError) {
  net.build(5);
  for (Box* box : net.live()) refs.push_back(box->ref);
  EXPECT_EQ(publish(refs[1]).error, errc::no_such_group);
}

TEST_P(TrackingTest, AMessageThatIsLostIsSentAgain) {
  grow(40);
  const PeerRef loser = forwarder();
  int left = 2;
  net.lost = [&](PeerRef, PeerRef to, const wire::Message& message) {
    return to == loser && std::holds_alternative<wire::Multicast>(message) && left-- > 0;
  };
  expect_complete();
  EXPECT_GT(counted(&Counters::tracked_repeated), 0u);
  expect_no_duplicates();
}

TEST_P(TrackingTest, AnAckThatIsLostIsAskedForAndCountsOnce) {
  grow(40);
  std::map<std::pair<PeerRef, PeerRef>, int> lost;
  net.lost = [&](PeerRef from, PeerRef to, const wire::Message& message) {
    return std::holds_alternative<wire::MulticastAck>(message) && lost[{from, to}]++ == 0;
  };
  expect_complete();
  expect_no_duplicates();
}

TEST_P(TrackingTest, AMemberThatHangsIsNamed) {
  grow(40);
  const PeerRef silent = leaf();
  ASSERT_TRUE(silent);
  const std::size_t all_members = net.members(group).size();
  net.hang(silent);
  const PublishOutcome& outcome = publish(outsider(), 2s);
  EXPECT_FALSE(outcome.error);
  EXPECT_FALSE(outcome.reach.complete);
  EXPECT_EQ(outcome.reach.members, all_members - 1);
  EXPECT_EQ(outcome.reach.unreachable, wire::Peers{silent});
}

TEST_P(TrackingTest, ASubtreeIsNamedByItsTop) {
  grow(40);
  const PeerRef silent = forwarder();
  const std::size_t all_members = net.members(group).size();
  const std::size_t below = members_below(silent);
  ASSERT_GT(below, 1u);
  net.hang(silent);
  const PublishOutcome& outcome = publish(outsider(), 1s);
  EXPECT_FALSE(outcome.reach.complete);
  EXPECT_EQ(outcome.reach.members, all_members - below);
  EXPECT_EQ(outcome.reach.unreachable, wire::Peers{silent});
}

TEST(TimeBelow, LeavesSomeInDeepTreesToo) {
  const Config config;
  std::uint32_t within_ms = 10'000;
  for (int depth = 0; depth < 25; ++depth) {
    const std::uint32_t below = time_below(config, within_ms);
    EXPECT_LT(below, within_ms);
    within_ms = below;
  }
  EXPECT_GE(within_ms, 3'000u);
  EXPECT_EQ(time_below(config, 800), 700u);
  EXPECT_EQ(time_below(config, 1), 1u);
  EXPECT_LT(time_below(config, 1'000'000), 60'000u);
}

TEST(TimeBelow, AKnownRoundTripCostsTwice) {
  const Config config;
  EXPECT_EQ(time_below(config, 10'000, 20ms), 9'950u);
  EXPECT_EQ(time_below(config, 10'000, 1h), time_below(config, 10'000));
  EXPECT_EQ(time_below(config, 80, 20ms), 70u);
}

// It says later that it is not in the tree, and does not know any more whom it has lost.
TEST_P(TrackingTest, WhoseLeaveIsLostIsMissedForThoseItCouldNotReach) {
  grow(40);
  const auto leaver = std::ranges::find_if(refs, [this](PeerRef ref) {
    return !view(ref).root && !view(ref).member && !view(ref).children.empty();
  });
  if (leaver == refs.end()) return;
  net.lost = [&](PeerRef from, PeerRef, const wire::Message& message) {
    const auto* leave = std::get_if<wire::Leave>(&message);
    return leave && from == *leaver && !leave->lost.empty();
  };
  for (const PeerRef child : view(*leaver).children) net.kill(child);
  ASSERT_TRUE(net.run_until([&] { return !net[*leaver].scribe().view(group); }, 20s));
  EXPECT_FALSE(publish(outsider(), 2s).reach.complete);
}

TEST_P(TrackingTest, ADeadForwarderIsMissedForTheExpiryPeriod) {
  grow(40);
  const PeerRef dead = forwarder();
  net.kill(dead);
  const MonoTime then = net.now();
  const Duration expiry = net.config.scribe.child_expiry;
  while (net.now() < then + expiry - 2s) {
    const PublishOutcome& outcome = publish(outsider(), 3s);
    EXPECT_FALSE(outcome.error);
    EXPECT_FALSE(outcome.reach.complete) << (net.now() - then).count();
    EXPECT_EQ(std::ranges::count(outcome.reach.unreachable, dead), 1);
    net.run_for(2s);
  }
  net.run_for(15s);
  expect_complete();
  expect_no_duplicates();
}

TEST_P(TrackingTest, AMemberThatIsKilledAtAnyMomentMakesItIncomplete) {
  grow(40);
  for (int i = 0; i < 6; ++i) {
    Tracked& tracked = track(outsider(), 3s);
    net.run_for(Duration(net.random().below(8'000)));
    net.kill(i % 2 == 0 ? forwarder() : leaf());
    net.run_until([&] { return tracked.answered; }, 10s);
    EXPECT_TRUE(tracked.answered);
    net.run_for(3s);
  }
}

TEST_P(TrackingTest, ARootThatDiesInMidFlightIsNeverComplete) {
  grow(40);
  for (int i = 0; i < 4; ++i) {
    const PeerRef publisher = outsider();
    Tracked& tracked = track(publisher, 20s);
    net.run_for(Duration(net.random().below(10'000)));
    const bool known = tracked.answered;
    if (const PeerRef dies = root(); dies != publisher) net.kill(dies);
    net.run_until([&] { return tracked.answered; }, 30s);
    EXPECT_TRUE(tracked.answered);
    if (!known && !tracked.outcome.error) {
      EXPECT_FALSE(tracked.outcome.reach.complete);
    }
    net.run_for(5s);
  }
  net.run_for(70s);
  expect_complete();
  expect_no_duplicates();
}

// Each that is refused on its way to the root would bring all the others there again, until
// its turn has come to be probed.
TEST_P(TrackingTest, ManyThatWaitForARootThatCannotBeReachedAreNoStorm) {
  grow(30);
  const PeerRef slow = leaf();
  const PeerRef publisher = outsider();
  int sent = 0;
  net.lost = [&](PeerRef from, PeerRef to, const wire::Message& message) {
    sent += from == publisher && std::holds_alternative<wire::Routed>(message);
    return to == slow && std::holds_alternative<wire::Multicast>(message);
  };
  constexpr int count = 30;
  for (int i = 0; i < count; ++i) track(publisher, 20s);
  net.run_for(500ms);
  sent = 0;
  for (int times = 0; times < 10; ++times) net[publisher].scribe().unreachable(root());
  EXPECT_EQ(sent, count);
}

TEST_P(TrackingTest, ANewRootThatHasTakenOverAloneIsNotCompleteForTheExpiryPeriod) {
  grow(30);
  net.kill(root());
  net.run_for(10s);
  const PublishOutcome outcome = publish(outsider(), 3s);
  EXPECT_FALSE(outcome.error);
  EXPECT_FALSE(outcome.reach.complete);
  EXPECT_EQ(outcome.reach.members, net.members(group).size());
  net.run_for(65s);
  expect_complete();
}

// Nobody knows then that there has been a group: whoever founds it anew has been beside
// those who did, or asks peers who have.
TEST_P(TrackingTest, ARootThatIsLostWithAllThatStandInForItIsMissedByItsSuccessor) {
  grow(40);
  std::vector<PeerRef> nearest = refs;
  std::ranges::sort(nearest, [&](PeerRef a, PeerRef b) {
    return closer_to(group, net.table().id(a), net.table().id(b));
  });
  nearest.resize(net.config.scribe.root_replicas);
  for (const PeerRef ref : nearest) net.kill(ref);
  for (int i = 0; i < 40; ++i) {
    const auto publisher = std::ranges::find_if(refs, [&](PeerRef ref) { return net[ref].alive; });
    track(*publisher, 5s);
    net.run_for(250ms);
  }
  net.run_for(70s);
  expect_complete();
}

// The dead one is tried again now and then, in vain: that is no news.
TEST_P(TrackingTest, ANewGroupIsCompleteWhereSomebodyDiedLongAgo) {
  net.build(20);
  for (Box* box : net.live()) refs.push_back(box->ref);
  const PeerRef dead = root();
  const PeerRef alive = refs.front() == dead ? refs.back() : refs.front();
  net.kill(dead);
  net.run_for(10min);
  ASSERT_FALSE(net.create(alive, prices, std::get<0>(GetParam())));
  join(alive);
  ASSERT_TRUE(net.run_until([&] { return members.contains(alive); }, 10s));
  EXPECT_TRUE(publish(alive).reach.complete);
}

TEST_P(TrackingTest, ARootThatIsHandedTheGroupAnswersForAll) {
  grow(30);
  int handovers = 0;
  for (int i = 0; handovers < 2 && i < 400; ++i) {
    const std::string name = "newcomer-" + std::to_string(i);
    if (!closer_to(group, Id::hash_of(name), net.table().id(root()))) continue;
    ++handovers;
    Box& box = net.begin_add(name);
    while (!box.peer->pastry().active()) {
      track(outsider());
      net.run_for(20ms);
    }
    net.run_for(3s);
    EXPECT_EQ(root(), box.ref);
    expect_complete();
  }
  EXPECT_GE(handovers, 1);
  net.run_for(10s);
  for (const auto& tracked : all) {
    EXPECT_TRUE(tracked->answered);
    EXPECT_FALSE(tracked->outcome.error) << tracked->outcome.error.message();
  }
  expect_no_duplicates();
}

TEST_P(TrackingTest, WhoLeavesInGoodOrderIsNotMissed) {
  grow(40);
  for (int i = 0; i < 8; ++i) {
    Tracked& tracked = track(outsider());
    net.run_for(Duration(net.random().below(4'000)));
    leave(leaf());
    net.run_until([&] { return tracked.answered; }, 10s);
    EXPECT_TRUE(tracked.outcome.reach.complete) << i;
    net.run_for(200ms);
    expect_complete();
  }
}

TEST_P(TrackingTest, AForwarderThatDepartsInGoodOrderIsNotMissed) {
  grow(40);
  for (int i = 0; i < 2; ++i) {
    const PeerRef leaver = forwarder();
    members.erase(leaver);
    net[leaver].peer->depart();
    while (!net[leaver].peer->departed()) {
      track(outsider());
      net.run_for(20ms);
    }
    net.kill(leaver);
    net.run_for(3s);
    expect_complete();
  }
  net.run_for(5s);
  for (const auto& tracked : all) EXPECT_TRUE(tracked->answered);
}

// Its parent leaves and says that it has lost it, while the message is on its way.
TEST_P(TrackingTest, AChildThatIsTakenLaterHasMissedWhatIsUnderWay) {
  grow(40);
  const PeerRef leaver = forwarder();
  const PeerRef above = view(leaver).parent;
  const PeerRef child = view(leaver).children.front();
  wire::MulticastAck stranger{.group = group, .state = wire::TrackState::stranger};
  net.lost = [&](PeerRef from, PeerRef to, const wire::Message& message) {
    const auto* multicast = std::get_if<wire::Multicast>(&message);
    if (multicast && to == leaver) {
      stranger.id = multicast->id;
      stranger.round = round_of(*multicast);
    }
    return (multicast && (to == leaver || to == child)) || (from == above && to == child);
  };
  Tracked& tracked = track(outsider());
  net.run_for(100ms);
  const auto sent = [&](PeerRef from, const wire::Message& message) {
    net[above].peer->receive(from, message);
  };
  sent(leaver, wire::Leave{.group = group, .nonce = 1000, .lost = {{child, every_round, 60'000}}});
  sent(child, wire::GroupJoin{.group = group,
                              .name = prices,
                              .child = child,
                              .nonce = 1000,
                              .position = view(child).position,
                              .claim = wire::Claim::member});
  sent(leaver, stranger);
  ASSERT_TRUE(std::ranges::count(view(above).children, child) == 1);
  EXPECT_TRUE(net.run_until([&] { return tracked.answered; }, 1s));
  EXPECT_EQ(tracked.outcome.reach.unreachable, wire::Peers{child});
}

// A later root sends the message once more; in an ordered group, to a second place.
TEST_P(TrackingTest, WhoWasNoMemberWhenItCameIsNotCountedUnlessItIsGivenIt) {
  grow(40);
  const PeerRef relay = net.forwarders(group).front();
  wire::Position place = view(relay).position;
  const bool ordered = static_cast<bool>(place);
  std::uint64_t told = 0;
  net.lost = [&](PeerRef from, PeerRef, const wire::Message& message) {
    const auto* ack = std::get_if<wire::MulticastAck>(&message);
    if (ack && from == relay && ack->state == wire::TrackState::done) told = ack->reach.members;
    return false;
  };
  const auto send = [&](std::uint64_t round) {
    wire::Multicast message{.group = group, .id = {Id::hash_of("again"), 1, 1}};
    message.body = Buffer::copy_of("again");
    message.tracking = {1000, {1, round}};
    if (ordered) {
      message.epoch = place.epoch;
      message.sequence = ++place.sequence;
    }
    net[relay].peer->receive(view(relay).parent, message);
    net.run_for(200ms);
    EXPECT_EQ(told, having("again"));
  };
  send(1);
  EXPECT_EQ(net[relay].count("again"), 0u);
  join(relay);
  send(2);
  EXPECT_EQ(net[relay].count("again"), ordered ? 0u : 1u);
  send(3);
  EXPECT_EQ(net[relay].count("again"), ordered ? 0u : 1u);
}

// As of a root on the other side of a parted ring: what its tree has answered for lies
// above all that this one says.
TEST_P(TrackingTest, ARootBeginsAboveTheRoundsOfAnother) {
  if (std::get<0>(GetParam()) == wire::GroupMode::ordered) return;  // rounds are positions
  grow(30);
  wire::Position latest;
  net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
    const auto* multicast = std::get_if<wire::Multicast>(&message);
    if (multicast) latest = multicast->tracking.round;
    return false;
  };
  publish(outsider());
  const wire::Position other{latest.epoch << 4, 1};
  const PeerRef deep = leaf();
  net[deep].peer->receive(view(deep).parent, wire::Multicast{.group = group,
                                                             .id = {Id::hash_of("other"), 1, 1},
                                                             .tracking = {1000, other}});
  expect_complete();
  EXPECT_LT(latest, other);
  expect_complete();
  EXPECT_GT(latest, other);
}

// As an old root that was its successor's child for a moment: what it was sent meanwhile it
// has never read.
TEST_P(TrackingTest, AChildThatLeavesAndDepartsIsNotWaitedFor) {
  grow(40);
  const PeerRef leaver = leaf();
  net.lost = [leaver](PeerRef, PeerRef to, const wire::Message&) { return to == leaver; };
  const Tracked& tracked = track(outsider());
  net.run_for(200ms);
  EXPECT_FALSE(tracked.answered);
  leave(leaver);
  net[leaver].peer->depart();
  EXPECT_TRUE(net.run_until([&] { return tracked.answered; }, 200ms));
  EXPECT_TRUE(tracked.outcome.reach.complete) << text_of(tracked.outcome.reach);
}

// What the forwarder could not pass on its children miss, and nobody else knows: by the time
// that its word of them has come the root has left the tree.
TEST_P(TrackingTest, ARootThatDepartsWithAForwarderMissesWhatThatCouldNotReach) {
  grow(40);
  const PeerRef leaver = root();
  PeerRef below;
  for (const PeerRef ref : view(leaver).children) {
    if (!view(ref).children.empty()) below = ref;
  }
  if (!below) return;
  net.lost = [&](PeerRef, PeerRef to, const wire::Message& message) {
    return to == below && std::holds_alternative<wire::Multicast>(message);
  };
  const Tracked& tracked = track(outsider());
  net.run_for(100ms);
  for (const PeerRef ref : {leaver, below}) {
    members.erase(ref);
    net[ref].peer->depart();
  }
  EXPECT_TRUE(net.run_until([&] { return tracked.answered; }, 10s));
}

TEST_P(TrackingTest, ChildrenThatMoveAreAnsweredForAllTheTime) {
  net.config.scribe.children_entries_max = 3;
  grow(40);
  const PeerRef publisher = outsider();
  for (int i = 0; i < 300; ++i) {
    track(publisher);
    net.run_for(100ms);
  }
  net.run_for(5s);
  EXPECT_GT(counted(&Counters::relocations), 3u);
  std::size_t complete = 0;
  for (const auto& tracked : all) complete += tracked->outcome.reach.complete;
  EXPECT_EQ(complete, all.size());
  expect_no_duplicates();
}

TEST_P(TrackingTest, WhatHasNoRoomIsNotCompleteAndCounted) {
  net.config.scribe.tracked_rounds_max = 3;
  grow(30);
  const PeerRef publisher = outsider();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(publish(publisher).reach.complete);
  const PublishOutcome& outcome = publish(publisher);
  EXPECT_FALSE(outcome.error);
  EXPECT_FALSE(outcome.reach.complete);
  EXPECT_GT(counted(&Counters::tracked_refused), 0u);
  net.run_for(1s);
  EXPECT_EQ(having(all.back()->text), net.members(group).size());
  net.run_for(20s);  // what is remembered is forgotten once nobody can ask any more
  EXPECT_TRUE(publish(publisher).reach.complete);
}

TEST_P(TrackingTest, ForwardersWithoutRoomMakeItIncomplete) {
  grow(30);
  const PeerRef full = forwarder();
  wire::Multicast flood;
  for (std::uint64_t i = 1; i <= net.config.scribe.tracked_rounds_max; ++i) {
    flood.group = group;
    flood.id = {Id::hash_of("flood"), 1, i};
    flood.tracking = {10'000, {1, i}};
    net[full].peer->receive(view(full).parent, flood);
  }
  if (std::get<0>(GetParam()) == wire::GroupMode::ordered) return;  // it takes no such flood
  const PublishOutcome& outcome = publish(outsider());
  EXPECT_FALSE(outcome.reach.complete);
  EXPECT_GE(std::ranges::count(outcome.reach.unreachable, full), 1);
}

TEST_P(TrackingTest, NobodyIsMadeToRememberForAges) {
  net.config.scribe.tracked_rounds_max = 1;
  grow(30);
  const PeerRef asked = leaf();
  const wire::Position latest = view(asked).position;
  wire::Multicast message;
  message.group = group;
  message.id = {Id::hash_of("ages"), 1, 1};
  message.epoch = latest.epoch;
  message.sequence = latest ? latest.sequence + 1 : 0;
  message.tracking = {4'000'000'000, {1, 1}};
  net[asked].peer->receive(view(asked).parent, message);
  EXPECT_EQ(counted(&Counters::tracked_rounds), 1u);
  net.run_for(net.config.scribe.child_expiry + 20s);
  message.id.sequence = 2;
  if (latest) ++message.sequence;
  net[asked].peer->receive(view(asked).parent, message);
  EXPECT_EQ(counted(&Counters::tracked_refused), 0u);
}

// Everything at once, in small.
TEST_P(TrackingTest, NothingIsCompleteThatIsNot) {
  net.config.scribe.children_entries_max = 4;
  grow(40);
  net.lost = [this](PeerRef, PeerRef, const wire::Message&) { return net.random().chance(0.02); };
  for (int i = 0; i < 600; ++i) {
    track(outsider(), i % 2 == 0 ? 2s : 6s);
    net.run_for(Duration(net.random().below(300'000)));
    const PeerRef victim = refs[net.random().below(refs.size())];
    if (i % 60 == 59 && net.live().size() > 20) net.kill(victim);
    if (i % 47 == 46 && net[victim].alive) {
      net.hang(victim);
      net.run_for(Duration(net.random().below(4'000'000)));
      net.wake_up(victim);
    }
    if (i % 11 == 10 && net[victim].alive) leave(victim);
    const PeerRef joiner = refs[net.random().below(refs.size())];
    if (i % 7 == 6 && net[joiner].alive) join(joiner);
  }
  net.lost = nullptr;
  net.run_for(90s);
  std::size_t complete = 0;
  for (const auto& tracked : all) complete += tracked->answered && tracked->outcome.reach.complete;
  EXPECT_GT(complete, 0u);
  expect_complete();
}

}  // namespace
}  // namespace canopy::scribe::test
