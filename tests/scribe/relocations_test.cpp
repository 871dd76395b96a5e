// What a child does that is told to look for another parent.
#include "scribe/relocation_test.hpp"

namespace canopy::scribe::test {
namespace {

class RelocationsTest : public RelocationTest {
 protected:
  void grow_and_publish() {
    join_many(40);
    net.run_for(1s);
    publisher = outsider();
    publish_for(200ms, publisher, wire::AckMode::none);
  }
  void publish_on(Duration span = 3s) { publish_for(span, publisher, wire::AckMode::none); }

  PeerRef publisher;
};

INSTANTIATE_TEST_SUITE_P(Seeds, RelocationsTest, testing::Values(1, 2, 3, 4));

TEST_P(RelocationsTest, MovesBelowTheCandidateWithoutLossOrDuplicate) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  const PeerRef sibling = sibling_of(child);
  tell(parent, child, {sibling});
  publish_on();
  EXPECT_EQ(view(child).parent, sibling);
  EXPECT_FALSE(has_child(parent, child));
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  expect_nothing_lost_or_twice(net.members(group));
}

TEST_P(RelocationsTest, TakesTheShortestWayToTheParent) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(3);
  const PeerRef parent = view(child).parent;
  wire::Relocation message{group, 1000, {}, {}};
  for (const PeerRef peer : view(parent).children) {
    if (peer == child) continue;
    message.candidates.push_back(peer);
    message.round_trips_us.push_back(
        static_cast<std::uint32_t>(net[parent].peer->pastry().round_trip(peer)->count()));
  }
  std::int64_t least = INT64_MAX;
  PeerRef best;
  for (std::size_t i = 0; i < message.candidates.size(); ++i) {
    const auto own = net[child].peer->pastry().round_trip(message.candidates[i]);
    const std::int64_t way = own->count() + message.round_trips_us[i];
    if (way >= least) continue;
    least = way;
    best = message.candidates[i];
  }
  net[child].peer->receive(parent, message);
  net.run_for(2s);
  EXPECT_EQ(view(child).parent, best);
}

TEST_P(RelocationsTest, MeasuresCandidatesThatItDoesNotKnow) {
  grow_and_publish();
  Box& newcomer = net.add("newcomer");
  ASSERT_FALSE(net.join(newcomer.ref, prices));
  net.run_for(2s);
  const PeerRef parent = view(newcomer.ref).parent;
  wire::Peers strangers;
  for (const PeerRef ref : net.members(group)) {
    if (ref != newcomer.ref && !newcomer.peer->pastry().round_trip(ref)) strangers.push_back(ref);
  }
  ASSERT_GE(strangers.size(), 2u);
  strangers.resize(std::min<std::size_t>(strangers.size(), 5));
  const std::uint64_t before = newcomer.peer->pastry().counters().measurements;
  tell(parent, newcomer.ref, strangers);
  publish_on(2s);
  EXPECT_EQ(newcomer.peer->pastry().counters().measurements - before, strangers.size());
  EXPECT_EQ(std::ranges::count(strangers, view(newcomer.ref).parent), 1);
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
}

TEST_P(RelocationsTest, StaysWithItsParentIfAllRefuse) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  wire::Peers strangers;  // who are in no tree
  for (const PeerRef ref : refs) {
    if (!net[ref].scribe().view(group)) strangers.push_back(ref);
  }
  ASSERT_GE(strangers.size(), 2u);
  strangers.resize(2);
  tell(parent, child, strangers);
  publish_on();
  EXPECT_EQ(asked.size(), 2u);
  EXPECT_EQ(view(child).parent, parent);
  for (const PeerRef ref : strangers) EXPECT_FALSE(net[ref].scribe().view(group));
  expect_nothing_lost_or_twice(net.members(group));
}

TEST_P(RelocationsTest, PassesOverOneThatIsSilent) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  const PeerRef sibling = sibling_of(child);
  const PeerRef deaf = publisher;
  loses = [deaf](PeerRef, PeerRef to, const wire::Message& message) {
    return to == deaf && std::holds_alternative<wire::GroupJoin>(message);
  };
  net[child].peer->receive(parent, wire::Relocation{group, 1000, {sibling, deaf}, {900'000, 1}});
  publish_on(5s);
  EXPECT_EQ(view(child).parent, sibling);
  expect_nothing_lost_or_twice(net.members(group));
}

TEST_P(RelocationsTest, IsNotTakenByWhoIsBelowIt) {
  grow_and_publish();
  for (const PeerRef ref : refs) {
    for (const PeerRef child : view(ref).children) {
      if (!view(ref).parent || view(child).children.empty()) continue;
      const PeerRef grandchild = view(child).children.front();
      tell(view(ref).parent, ref, {child, grandchild});  // the child is not even asked
      publish_on(1s);
      ASSERT_EQ(asked.size(), 1u);
      EXPECT_EQ(asked.front().to, grandchild);
      EXPECT_EQ(counted(&Counters::loops_refused), 1u);
      EXPECT_EQ(counted(&Counters::relocations), 0u);
      EXPECT_EQ(net.faults(group), std::vector<std::string>{});
      return expect_nothing_lost_or_twice(net.members(group));
    }
  }
  FAIL() << "the tree is too flat";
}

TEST_P(RelocationsTest, HeedsItsParentOnly) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  tell(sibling_of(child), child, {root()});
  tell(publisher, child, {root()});
  net[child].peer->receive(view(child).parent, wire::Relocation{group, 9, {root()}, {}});
  net.run_for(1s);
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(counted(&Counters::malformed), 1u);
}

TEST_P(RelocationsTest, ADirectJoinMakesNobodyAForwarderAndNeedsRoom) {
  net.config.scribe.children_entries_max = 4;
  grow_and_publish();
  net.run_for(60s);
  const PeerRef child = child_with_siblings(1);
  for (const PeerRef ref : refs) {
    if (entries(ref) < 4 || ref == child || has_child(ref, child)) continue;
    if (std::ranges::count(view(ref).root_path, child) > 0) continue;
    tell(view(child).parent, child, {ref}, 4);  // as many as it has
    net.run_for(1s);
    EXPECT_FALSE(has_child(ref, child));
    return;
  }
}

TEST_P(RelocationsTest, AChildThatLeavesMeanwhileIsGone) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const std::vector<PeerRef> members = net.members(group);
  tell(view(child).parent, child, {sibling_of(child)});
  net[child].scribe().leave(group);
  publish_on();
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  for (const PeerRef member : members) {
    if (member != child) expect_everything_at(member, 0, published);
  }
}

TEST_P(RelocationsTest, ACandidateThatDiesCostsNothing) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  const PeerRef sibling = sibling_of(child);
  net.kill(sibling);
  tell(parent, child, {sibling});
  const std::size_t from = published;
  publish_on(5s);
  EXPECT_EQ(view(child).parent, parent);
  expect_no_duplicates();
  expect_everything_at(child, from, published);
  expect_sound_within(70s);
}

TEST_P(RelocationsTest, ACandidateThatDiesWithTheChildIsLostLikeAnyParent) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef sibling = sibling_of(child);
  tell(view(child).parent, child, {sibling});
  ASSERT_TRUE(net.run_until([&] { return view(child).parent == sibling; }, 2s));
  net.kill(sibling);
  publish_on(6s);
  const std::size_t from = published;
  publish_on(1s);
  expect_nothing_lost_or_twice({child}, from);
  expect_sound_within(70s);
}

TEST_P(RelocationsTest, AParentThatDiesMeanwhileIsReplaced) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  tell(parent, child, {sibling_of(child)});
  net.kill(parent);
  publish_on(8s);
  const std::size_t from = published;
  publish_on(1s);
  expect_nothing_lost_or_twice(listeners(), from);
  expect_sound_within(70s);
}

TEST_P(RelocationsTest, ParentAndCandidateMayDieAtOnce) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  const PeerRef sibling = sibling_of(child);
  tell(parent, child, {sibling});
  net.kill(parent);
  net.kill(sibling);
  publish_on(8s);
  const std::size_t from = published;
  publish_on(1s);
  expect_nothing_lost_or_twice(listeners(), from);
  expect_sound_within(70s);
}

// The old parent says that it is none, while the candidate has its JOIN: the first
// to take the child has it.
TEST_P(RelocationsTest, AParentThatDepartsMeanwhileLosesNothing) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  std::vector<PeerRef> members = net.members(group);
  std::erase(members, parent);
  tell(parent, child, {sibling_of(child)});
  net[parent].peer->depart();
  publish_on();
  net.kill(parent);
  publish_on(1s);
  expect_nothing_lost_or_twice(members);
  expect_sound_within(70s);
}

// Siblings that are told to move below each other: one of them is refused, or the
// ring that they close is found and opened.
TEST_P(RelocationsTest, SiblingsThatChooseEachOtherEndInATree) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  const PeerRef sibling = sibling_of(child);
  tell(parent, child, {sibling});
  tell(parent, sibling, {child});
  publish_on(5s);
  expect_sound_within(10s);
  const std::size_t from = published;
  publish_on(1s);
  expect_nothing_lost_or_twice(net.members(group), from);
}

TEST_P(RelocationsTest, AnAckThatIsLostLeavesNoEdgeBehind) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  loses = [child](PeerRef, PeerRef to, const wire::Message& message) {
    return to == child && std::holds_alternative<wire::JoinAck>(message);
  };
  tell(parent, child, {sibling_of(child)});
  publish_on(5s);
  loses = nullptr;
  EXPECT_EQ(view(child).parent, parent);
  publish_on(1s);
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  expect_nothing_lost_or_twice(net.members(group));
}

TEST_P(RelocationsTest, MessagesOnTheSlowWayThroughTheOldParentArrive) {
  grow_and_publish();
  const PeerRef child = child_with_siblings(1);
  const PeerRef parent = view(child).parent;
  net.lag = [=](PeerRef from, PeerRef to, const wire::Message& message) {
    const bool late =
        from == parent && to == child && wire::traffic_class(message) == wire::TrafficClass::bulk;
    return late ? Duration(100ms) : Duration::zero();
  };
  publish_on(500ms);
  tell(parent, child, {sibling_of(child)});
  publish_on();
  EXPECT_NE(view(child).parent, parent);
  expect_nothing_lost_or_twice(net.members(group));
}

}  // namespace
}  // namespace canopy::scribe::test
