// A group is served in the mode that it has, whatever its root took it for.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/tree_test.hpp"

namespace canopy::scribe::test {
namespace {

class GroupModeTest : public TreeTest {
 protected:
  void expect_all_of_it_in_order() {
    publish_for(200ms, outsider(), wire::AckMode::root);
    net.run_for(5s);
    for (const PeerRef ref : listeners()) {
      ASSERT_EQ(net[ref].delivered.size(), published);
      EXPECT_NE(net[ref].delivered.back().position.epoch, 0u);
    }
  }

  // A peer that keeps this of the group says so.
  void tell_root(const wire::GroupState& state) {
    const PeerRef from = refs[1] == root() ? refs[2] : refs[1];
    net[root()].peer->receive(from, wire::RootStates{77, false, {state}});
    net.run_for(1s);
  }
};

TEST_P(GroupModeTest, AGroupHasOne) {
  net.build(20);
  const PeerRef ref = net.live().front()->ref;
  ASSERT_FALSE(net.create(ref, prices, wire::GroupMode::ordered));
  EXPECT_FALSE(net.create(ref, prices, wire::GroupMode::ordered));
  EXPECT_EQ(net.create(ref, prices, wire::GroupMode::best_effort), errc::mode_conflict);
  EXPECT_EQ(net.create(ref, {"logs", "ann"}, wire::GroupMode::durable), errc::unsupported);
}

// It was founded anew by who joined, and then one turns up who knows it from before.
TEST_P(GroupModeTest, AGroupThatTurnsOutToBeOrderedIsServedInOrder) {
  grow(30);
  tell_root({group, prices, wire::GroupMode::ordered, 7, 3, true});
  expect_all_of_it_in_order();
}

// By one that has a place of a replica no more.
TEST_P(GroupModeTest, AGroupThatIsOfferedAsOrderedIsServedInOrder) {
  grow(30);
  wire::GroupChange offer;
  offer.group = group;
  offer.name = prices;
  offer.origin = outsider();
  offer.kind = wire::ChangeKind::offer;
  offer.states.push_back({group, prices, wire::GroupMode::ordered, 7, 3, true});
  net[offer.origin].peer->pastry().route(group, offer);
  net.run_for(1s);
  expect_all_of_it_in_order();
}

// And while it is, nothing is changed.
TEST_P(GroupModeTest, AGroupThatTurnsOutToBeOrderedWhileItIsHandedOverIsServedInOrder) {
  grow(30);
  net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
    const auto* states = std::get_if<wire::RootStates>(&message);
    return states && states->handover;
  };
  const PeerRef old_root = root();
  const PeerRef newcomer = net.add(closer_name()).ref;
  net.run_for(1s);
  net[old_root].peer->receive(
      refs[0],
      wire::RootStates{77, false, {{group, prices, wire::GroupMode::ordered, 7, 3, true}}});
  net.kill(newcomer);
  ASSERT_TRUE(net.run_until([&] { return net.roots(group) == wire::Peers{old_root}; }, 20s));
  expect_sound_within(30s);
  expect_all_of_it_in_order();
}

// The tree has an order; the next root has heard of the group only from before that.
TEST_P(GroupModeTest, AReplicaThatKnowsOfNoOrderIsNotBelievedAgainstTheTree) {
  net.config.scribe.root_replicas = 1;
  grow(30, wire::GroupMode::ordered);
  publish_for(100ms, outsider(), wire::AckMode::root);
  net.run_for(1s);
  const std::uint64_t epoch = net[joined[0]].delivered.back().position.epoch;
  std::vector<PeerRef> nearest = refs;
  std::ranges::sort(nearest, [this](PeerRef a, PeerRef b) {
    return closer_to(group, net.table().id(a), net.table().id(b));
  });
  ASSERT_EQ(nearest[0], root());
  // In the tree, so that it knows the order.
  const PeerRef third = nearest[2];
  if (!net[third].scribe().view(group)) {
    ASSERT_FALSE(net.join(third, prices));
    net.run_for(1s);
  }
  net[third].peer->receive(
      nearest[0], wire::RootStates{
                      77, false, {{group, prices, wire::GroupMode::best_effort, epoch, 99, true}}});
  net.kill(nearest[0]);
  net.kill(nearest[1]);
  ASSERT_TRUE(net.run_until([&] { return net.roots(group) == wire::Peers{third}; }, 60s));
  expect_sound_within(60s);
  publish_for(200ms, outsider(), wire::AckMode::root);
  net.run_for(5s);
  for (const PeerRef ref : listeners()) {
    EXPECT_EQ(net[ref].delivered.back().text, std::to_string(published - 1));
    EXPECT_NE(net[ref].delivered.back().position.epoch, 0u);
  }
}

// It was deleted, and created anew.
TEST_P(GroupModeTest, AGroupThatTurnsOutToBeOfNoOrderIsServedInNone) {
  grow(30, wire::GroupMode::ordered);
  publish_for(100ms, outsider(), wire::AckMode::root);
  const std::size_t in_order = published;
  net.run_for(1s);
  wire::GroupState state{group, prices, wire::GroupMode::best_effort, 7, 3, true};
  state.life = 2;
  tell_root(state);
  net.run_for(10s);
  publish_for(200ms, outsider(), wire::AckMode::root);
  net.run_for(5s);
  for (const PeerRef ref : joined) {
    ASSERT_EQ(net[ref].delivered.size(), published);
    EXPECT_NE(net[ref].delivered[in_order - 1].position.epoch, 0u);
    EXPECT_EQ(net[ref].delivered.back().position.epoch, 0u);
  }
  for (int i = 0; i < 3; ++i) {
    const PeerRef newcomer = outsider();
    ASSERT_FALSE(net.join(newcomer, prices));
    const auto last = net.last(newcomer, prices);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->body.view(), std::to_string(published - 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GroupModeTest, testing::Range<std::uint64_t>(1, 7));

}  // namespace
}  // namespace canopy::scribe::test
