// A group is served in the mode that it has, whatever its root took it for.
#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/tree_test.hpp"

namespace canopy::scribe::test {
namespace {

class GroupModeTest : public TreeTest {
 protected:
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
  publish_for(200ms, outsider(), wire::AckMode::root);
  net.run_for(5s);
  for (const PeerRef ref : joined) {
    ASSERT_EQ(net[ref].delivered.size(), published);
    EXPECT_NE(net[ref].delivered.front().position.epoch, 0u);
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
