// Groups with access lists in a small network: changes of lists, and what stays of
// them when roots change, and when groups are deleted.
#include <set>
#include <string>

#include "scribe/access_test.hpp"

namespace canopy::scribe::test {
namespace {

TEST_F(AccessTest, AChangeThatWasMadeOfAnOlderListIsAConflict) {
  build(10);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({})).first);
  const auto before = net.look(others[0], prices).second.access;
  ASSERT_FALSE(net.set_access(others[0], prices, closed_to_all_but({others[1]})));
  boost::system::error_code told;
  net[others[0]].scribe().set_access(
      prices, before->mark, before, nullptr,
      [&](boost::system::error_code error, const wire::GroupState&) { told = error; });
  net.run_for(1s);
  EXPECT_EQ(told, errc::conflict);
}

TEST_F(AccessTest, ANewRootGoesByTheSameList) {
  build(40);
  wire::AccessList list = closed_to_all_but({});
  list.join.keys = list.publish.keys = {secret->public_key()};
  list.publish.everybody = false;
  ASSERT_FALSE(net.create(others[0], prices, list, wire::GroupMode::ordered).first);
  for (std::size_t i = 0; i < 10; ++i) ASSERT_FALSE(net.join(others[i], prices, secret));
  for (int round = 0; round < 3; ++round) {
    net.kill(root());
    net.run_for(10s);
    const PeerRef outsider =
        *std::ranges::find_if(others.begin() + 20, others.end(),
                              [&](PeerRef ref) { return net[ref].alive && ref != root(); });
    EXPECT_EQ(net.join(outsider, prices), errc::denied);
    EXPECT_EQ(net.publish(outsider, prices, "out").error, errc::denied);
    EXPECT_FALSE(net.publish(outsider, prices, "in", wire::AckMode::root, 0s, secret).error);
  }
  net.run_for(30s);
  expect_sound();
  const PeerRef asking = net[others[0]].alive ? others[0] : others[1];
  EXPECT_EQ(net.look(asking, prices).second.access->join, list.join);
}

TEST_F(AccessTest, APeerThatTakesTheRootOverAsANewcomerGoesByTheSameList) {
  build(20);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  ASSERT_FALSE(net.join(others[1], prices));
  for (int i = 0; i < 40; ++i) net.add("new-" + std::to_string(i));
  EXPECT_EQ(std::ranges::find(refs, root()), refs.end()) << "no newcomer is closer: add more";
  net.run_for(5s);
  EXPECT_EQ(net.join(others[2], prices), errc::denied);
  EXPECT_EQ(net.members(group), std::vector{others[1]});
  expect_sound();
}

// Those next to the group ask each other only, and none of them has it.
TEST_F(AccessTest, WhoAloneKeepsAListOffersItWhereNewcomersHaveItsPlace) {
  build(30);
  const auto nearer = [&](PeerRef a, PeerRef b) {
    return closer_to(group, net.table().id(a), net.table().id(b));
  };
  std::set<PeerRef, decltype(nearer)> keepers({root()}, nearer);
  net.lost = [&](PeerRef, PeerRef to, const wire::Message& message) {
    if (std::holds_alternative<wire::RootStates>(message)) keepers.insert(to);
    return false;
  };
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  net.run_for(1s);
  net.lost = nullptr;
  ASSERT_EQ(keepers.size(), net.config.scribe.root_replicas);

  const PeerRef last = *keepers.rbegin();
  keepers.erase(last);
  net.hang(last);  // else it would be the root before the newcomers are there
  for (const PeerRef ref : keepers) net.kill(ref);
  for (const PeerRef ref : keepers) net.begin_add(net.table()[ref].name);
  const Id& place = net.table().id(last);
  const auto between = [&](const Id& id) {
    return closer_to(group, id, place) && closer_to(place, id, net.table().id(*keepers.begin()));
  };
  // On its side, so that the leaf set of the next root ends before it.
  for (std::string name = "new"; net.live().size() < refs.size() + 2; name += '+') {
    if (between(Id::hash_of(name))) net.begin_add(name);
  }
  net.run_for(1s);
  net.wake_up(last);
  net.run_for(2min);
  const PeerRef asking = *std::ranges::max_element(refs, nearer);
  EXPECT_TRUE(net.look(asking, prices).second.access);
  EXPECT_EQ(net.join(asking, prices), errc::denied);
}

TEST_F(AccessTest, ARootThatWasStoppedLooksWhetherItIsOneWhenAListIsToBeChanged) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  static_cast<pastry::Application&>(net[root()].scribe()).stalled();
  EXPECT_FALSE(net.set_access(others[0], prices, closed_to_all_but({others[2]})));
  EXPECT_FALSE(net.join(others[2], prices));
}

// Looks, and changes what it has seen, until nobody has changed it in between.
class Manager {
 public:
  Manager(MiniNet& net, PeerRef self) : net_(net), self_(self) {}

  void change(const Id& allowed) {
    allowed_ = allowed;
    done_ = false;
    look();
  }
  bool done() const { return done_; }
  Duration longest_call{};
  std::map<std::string, int> answers;

 private:
  void look() {
    const MonoTime asked = net_.now();
    net_[self_].scribe().look(
        prices, [this, asked](boost::system::error_code error, const wire::GroupState& state) {
          told("look: ", error, asked);
          if (error) return end();
          wire::AccessList list = *state.access;
          list.join.peers = {allowed_};
          set(state.access->mark, list);
        });
  }
  void set(std::uint64_t expected, const wire::AccessList& list) {
    const MonoTime asked = net_.now();
    net_[self_].scribe().set_access(
        prices, expected, std::make_shared<const wire::AccessList>(list), nullptr,
        [this, asked](boost::system::error_code error, const wire::GroupState&) {
          told("set: ", error, asked);
          error == errc::conflict ? look() : end();
        });
  }
  void told(const std::string& what, boost::system::error_code error, MonoTime asked) {
    longest_call = std::max(longest_call, net_.now() - asked);
    ++answers[what + error.message()];
  }
  void end() { done_ = true; }

  MiniNet& net_;
  PeerRef self_;
  Id allowed_;
  bool done_ = true;
};

// Each is told what has come of it, however long a root was stopped.
TEST_F(AccessTest, ChangesAreAnsweredInTimeThoughRootsAreStopped) {
  build(30);
  wire::AccessList list = closed_to_all_but({others[1]});
  list.manage.everybody = true;
  ASSERT_FALSE(net.create(others[0], prices, list).first);
  const wire::Peers near = net[root()].peer->pastry().closest(group, 8);
  std::vector<Manager> managers;
  for (const PeerRef ref : others) {
    const bool far = std::ranges::find(near, ref) == near.end();
    if (far && managers.size() < 2) managers.emplace_back(net, ref);
  }
  for (int round = 0; round < 40; ++round) {
    const PeerRef stopped = root();
    const MonoTime wakes = net.now() + Duration(net.random().below(9'000'000));
    const MonoTime over = wakes + 8s;
    net.hang(stopped);
    // Whoever succeeds it has to wait for one of the others.
    const PeerRef replica = near[3] == stopped ? near[2] : near[3];
    const MonoTime replica_stops = net.now() + 2s + Duration(net.random().below(2'000'000));
    bool replica_stopped = false;
    while (net.now() < over) {
      if (!replica_stopped && net.now() >= replica_stops) {
        net.hang(replica);
        replica_stopped = true;
      }
      for (Manager& manager : managers) {
        if (manager.done()) manager.change(Id::hash_of(std::to_string(net.random().below(1000))));
      }
      net.run_for(Duration(net.random().below(300'000)));
      if (net.now() >= wakes && net[stopped].hung) net.wake_up(stopped);
    }
    net.wake_up(replica);
    net.run_for(8s);
  }
  for (const Manager& manager : managers) {
    EXPECT_LE(manager.longest_call, net.config.scribe.change_timeout);
    EXPECT_EQ(manager.answers.count("look: " + make_error_code(errc::timed_out).message()), 0u);
    EXPECT_EQ(manager.answers.count("set: " + make_error_code(errc::timed_out).message()), 0u);
    EXPECT_GT(manager.answers.at("set: Success"), 100);
  }
  expect_sound();
}

// Its root has failed, and the one after waits for a replica that confirms nothing.
TEST_F(AccessTest, AChangeThatComesToItsRootLateIsAnsweredInTime) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  const std::uint64_t before = mark_of(net.look(others[0], prices).second.access);
  const PeerRef mute = net[root()].peer->pastry().closest(group, 5)[3];
  ASSERT_NE(mute, others[0]);
  net.lost = [mute](PeerRef from, PeerRef, const wire::Message& message) {
    return from == mute && std::holds_alternative<wire::RootStatesAck>(message);
  };
  net.hang(root());
  boost::system::error_code told = errc::busy;
  const wire::AccessList wished = closed_to_all_but({others[2]});
  net[others[0]].scribe().set_access(
      prices, before, std::make_shared<const wire::AccessList>(wished), nullptr,
      [&](boost::system::error_code error, const wire::GroupState&) { told = error; });
  net.run_until([&] { return told != errc::busy; }, 20s);
  EXPECT_EQ(told, errc::unconfirmed);
}

// The answer of the root that has done it is lost with it.
TEST_F(AccessTest, AChangeThatAnEarlierRootHasMadeIsDone) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  const PeerRef first = root();
  bool replicated = false;
  net.lost = [&](PeerRef from, PeerRef, const wire::Message& message) {
    replicated |= std::holds_alternative<wire::RootStatesAck>(message);
    return from == first && std::holds_alternative<wire::GroupChangeReply>(message) && replicated;
  };
  boost::system::error_code told = errc::busy;
  const wire::AccessList wished = closed_to_all_but({others[2]});
  const std::uint64_t before = mark_of(net.look(others[0], prices).second.access);
  net[others[0]].scribe().set_access(
      prices, before, std::make_shared<const wire::AccessList>(wished), nullptr,
      [&](boost::system::error_code error, const wire::GroupState&) { told = error; });
  net.run_for(200ms);
  ASSERT_TRUE(replicated);
  ASSERT_EQ(told, errc::busy);
  net.kill(first);
  net.run_until([&] { return told != errc::busy; }, 20s);
  EXPECT_FALSE(told) << told.message();
  EXPECT_FALSE(net.join(others[2], prices));
}

// A list is one life's: whoever missed that the group was deleted goes by the new one's.
TEST_F(AccessTest, NoListOutlivesItsGroupWhereTheDeletionWasMissed) {
  build(60);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (std::size_t i = 0; i < 40; ++i) ASSERT_FALSE(net.join(others[i], prices));
  const wire::Peers replicas = net[root()].peer->pastry().closest(group, 5);
  PeerRef asleep;
  for (std::size_t i = 1; i < 40; ++i) {
    const bool replica = std::ranges::find(replicas, others[i]) != replicas.end();
    if (!replica && !net[others[i]].scribe().view(group)->children.empty()) asleep = others[i];
  }
  ASSERT_TRUE(asleep);
  net.hang(asleep);
  net.lost = [asleep](PeerRef, PeerRef to, const wire::Message& message) {
    return to == asleep && std::holds_alternative<wire::JoinRefused>(message);
  };
  ASSERT_FALSE(net.remove(others[0], prices));
  ASSERT_FALSE(net.create(others[0], prices, wire::GroupMode::best_effort));
  net.wake_up(asleep);
  net.run_for(1s);
  net.lost = nullptr;
  net.run_for(60s);
  for (const PeerRef ref : refs) {
    EXPECT_FALSE(net.join(ref, prices)) << net.table()[ref].name;
    const auto view = net[ref].scribe().view(group);
    EXPECT_FALSE(view && view->access) << net.table()[ref].name;
  }
  EXPECT_FALSE(net.look(others[0], prices).second.access);
  expect_sound();
}

// The list of the earlier life was stricter, and its holder becomes the root.
TEST_F(AccessTest, ANewRootThatMissedTheDeletionBringsNoListBack) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (const PeerRef ref : others) ASSERT_FALSE(net.join(ref, prices));
  const PeerRef first = root();
  const PeerRef next = net[first].peer->pastry().closest(group, 2)[1];
  net.lost = [&](PeerRef from, PeerRef to, const wire::Message& message) {
    return to == next && from == first &&
           (std::holds_alternative<wire::JoinRefused>(message) ||
            std::holds_alternative<wire::AccessUpdate>(message));
  };
  ASSERT_FALSE(net.remove(others[0], prices));
  ASSERT_FALSE(net.create(others[0], prices, wire::GroupMode::best_effort));
  net.kill(first);
  net.run_for(60s);
  ASSERT_EQ(root(), next);
  EXPECT_FALSE(net.look(others[0], prices).second.access);
  for (const PeerRef ref : refs) {
    if (ref == first) continue;
    EXPECT_FALSE(net.join(ref, prices)) << net.table()[ref].name;
  }
  expect_sound();
}

TEST_F(AccessTest, ARootWhoseReplicaIsOlderThanTheTreeLearnsTheListFromIt) {
  for (const bool had_list : {false, true}) {
    MiniNet own{17};
    own.build(30);
    std::vector<PeerRef> all;
    for (Box* box : own.live()) all.push_back(box->ref);
    const PeerRef first = own.closest_live(group);
    const PeerRef next = own[first].peer->pastry().closest(group, 2)[1];
    wire::AccessList open;
    if (had_list) open.publish = {false, {own.table().id(all[0])}, {}};
    if (had_list) {
      ASSERT_FALSE(own.create(first, prices, open).first);
    } else {
      ASSERT_FALSE(own.create(first, prices));
    }
    for (const PeerRef ref : all) ASSERT_FALSE(own.join(ref, prices));
    // The change does not come to the replicas; the tree has it.
    own.lost = [&](PeerRef from, PeerRef, const wire::Message& message) {
      return from == first && std::holds_alternative<wire::RootStates>(message);
    };
    wire::AccessList closed = open;
    closed.join = {false, {}, {}};
    for (std::size_t i = 0; i < 20; ++i) closed.join.peers.push_back(own.table().id(all[i]));
    closed.join.peers.push_back(own.table().id(next));
    EXPECT_EQ(own.set_access(first, prices, closed), errc::unconfirmed);
    const std::uint64_t mark = mark_of(own[first].scribe().view(group)->access);
    own.lost = nullptr;
    own.kill(first);
    own.run_for(30s);
    ASSERT_EQ(own.closest_live(group), next);
    EXPECT_EQ(mark_of(own.look(all[0], prices).second.access), mark) << had_list;
    EXPECT_EQ(mark_of(own[next].scribe().view(group)->access), mark) << had_list;
    for (std::size_t i = 20; i < all.size(); ++i) {
      if (all[i] == first || all[i] == next) continue;
      EXPECT_EQ(own.join(all[i], prices), errc::denied);
    }
    EXPECT_EQ(own.faults(group), std::vector<std::string>{});
  }
}

// As when parts of the ring that were apart meet again.
TEST_F(AccessTest, OfListsThatWereChangedApartTheStricterHoldsEverywhere) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (std::size_t i = 0; i < 12; ++i) ASSERT_FALSE(net.join(others[i], prices));
  const wire::GroupState before = net.look(others[0], prices).second;
  const std::vector<PeerRef> here(others.begin(), others.begin() + 8);
  ASSERT_FALSE(net.set_access(others[0], prices, closed_to_all_but(here)));
  wire::GroupState apart = before;
  const std::vector<PeerRef> there(others.begin() + 4, others.end());
  apart.access = next_version(before.access, closed_to_all_but(there), 4711);
  apart.epoch += 3;
  const wire::Peers holders_of = net[root()].peer->pastry().closest(group, 5);
  const PeerRef replica = holders_of[0] == root() ? holders_of[1] : holders_of[0];
  net[replica].peer->receive(others[12], wire::RootStates{1, false, {apart}});
  net.run_for(60s);
  expect_sound();
  const auto members = net.members(group);
  EXPECT_EQ(members, std::vector(others.begin() + 4, others.begin() + 8));
  for (const PeerRef ref : others) {
    const auto view = net[ref].scribe().view(group);
    if (!view) continue;
    EXPECT_EQ(view->access->mark, net.look(others[0], prices).second.access->mark);
  }
}

TEST_F(AccessTest, ADeletedGroupIsGoneForItsMembersAndStaysSo) {
  build(40);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (std::size_t i = 0; i < 20; ++i) ASSERT_FALSE(net.join(others[i], prices));
  ASSERT_FALSE(net.remove(others[0], prices));
  net.run_for(5s);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(net[others[i]].detachments, std::vector{make_error_code(errc::no_such_group)});
  }
  for (const PeerRef ref : refs) EXPECT_FALSE(net[ref].scribe().view(group));
  EXPECT_EQ(net.join(others[3], prices), errc::no_such_group);
  EXPECT_EQ(net.publish(others[3], prices, "x").error, errc::no_such_group);
  EXPECT_EQ(net.look(others[3], prices).first, errc::no_such_group);
  net.kill(root());
  net.run_for(10s);
  EXPECT_EQ(net.join(others[4], prices), errc::no_such_group);
  // Created anew, it is another group.
  EXPECT_FALSE(net.create(others[0], prices, closed_to_all_but({others[4]})).first);
  EXPECT_FALSE(net.join(others[4], prices));
  net.run_for(60s);
  EXPECT_EQ(net.members(group), std::vector{others[4]});
}

TEST_F(AccessTest, WhatDisksHaveKeptIsThereAgainAfterEverythingWasOff) {
  net.config.scribe.keeps_states = true;
  build(12);
  ASSERT_FALSE(
      net.create(others[0], prices, closed_to_all_but({others[1]}), wire::GroupMode::ordered)
          .first);
  const wire::GroupName other{"deleted", "ann"};
  ASSERT_FALSE(net.create(others[0], other, closed_to_all_but(others)).first);
  ASSERT_FALSE(net.remove(others[0], other));
  std::map<std::string, std::map<Id, wire::GroupState>> disks;
  for (Box* box : net.live()) disks[net.table()[box->ref].name] = box->disk;
  const std::string allowed = net.table()[others[1]].name;

  MiniNet again{12};
  again.config.scribe.keeps_states = true;
  again.build(1);
  std::vector<std::pair<std::string, PeerRef>> boxes;
  for (const auto& [name, disk] : disks) {
    if (name == "node-0") continue;
    Box& box = again.begin_add(name);
    for (const auto& [id, state] : disk) box.scribe().restore(state);
    ASSERT_TRUE(again.run_until([&] { return box.peer->pastry().active(); }, 60s));
    boxes.emplace_back(name, box.ref);
  }
  again.run_for(60s);
  for (const auto& [name, ref] : boxes) {
    EXPECT_EQ(!again.join(ref, prices), name == allowed) << name;
  }
  EXPECT_EQ(again.look(boxes[0].second, prices).second.mode, wire::GroupMode::ordered);
  EXPECT_EQ(again.join(boxes[0].second, other), errc::no_such_group);
}

// Who asked has been told that it has failed.
TEST_F(AccessTest, AChangeThatHasWaitedForLongerThanWhoAskedIsNotMade) {
  build(10);
  ASSERT_FALSE(net.create(others[0], prices, wire::AccessList{}).first);
  wire::GroupChange change;
  change.group = group;
  change.name = prices;
  change.origin = others[0];
  change.nonce = 7;
  change.kind = wire::ChangeKind::remove;
  change.within_ms = 4000;
  wire::Routed message;
  message.key = group;
  message.body = std::make_shared<const wire::RoutedBody>(change);
  message.waited_ms = 4000;
  net[root()].peer->receive(others[0], message);
  net.run_for(1s);
  EXPECT_EQ(net[root()].scribe().counters().changes_late, 1u);
  EXPECT_FALSE(net.look(others[1], prices).first);
  message.waited_ms = 3999;
  net[root()].peer->receive(others[0], message);
  net.run_for(1s);
  EXPECT_EQ(net.look(others[1], prices).first, errc::no_such_group);
}

TEST_F(AccessTest, ACreateThatARootHeldWhenItWasStoppedIsNotMade) {
  build(10);
  const PeerRef holder = root();
  wire::GroupCreate create;
  create.state.group = group;
  create.state.name = prices;
  create.origin = others[0];
  create.within_ms = 4000;
  net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::RootStateReply>(message);
  };
  net[holder].peer->receive(
      others[0],
      wire::Routed{.key = group, .body = std::make_shared<const wire::RoutedBody>(create)});
  net.run_for(net.config.scribe.root_search_timeout / 2);
  net.hang(holder);
  net.run_for(10s);
  net.wake_up(holder);
  net.lost = nullptr;
  net.run_for(3s);
  EXPECT_EQ(net[holder].scribe().counters().publishes_shed, 1u);
  EXPECT_EQ(net.look(others[1], prices).first, errc::no_such_group);
}

TEST_F(AccessTest, ACreateThatARootCannotKeepSaysSo) {
  net.config.scribe.keeps_states = true;
  build(10);
  net[root()].disk_works = false;
  EXPECT_EQ(net.create(others[0], prices, wire::AccessList{}).first, errc::unconfirmed);
  net[root()].disk_works = true;
  EXPECT_FALSE(net.set_access(others[0], prices, {}));
}

}  // namespace
}  // namespace canopy::scribe::test
