// Forwarders of one child: that they go, come back when needed, and do not flap.
#include "scribe/relocation_test.hpp"

namespace canopy::scribe::test {
namespace {

class CollapseTest : public RelocationTest {
 protected:
  CollapseTest() { net.config.scribe.path_collapse = true; }

  // Few members far from each other: long ways for one of them alone.
  void join_few() {
    net.build(60);
    for (Box* box : net.live()) refs.push_back(box->ref);
    for (std::size_t i = 0; i < refs.size(); i += 7) ASSERT_FALSE(net.join(refs[i], prices));
    net.run_for(1s);
  }
  std::vector<PeerRef> superfluous() {
    std::vector<PeerRef> found;
    for (const PeerRef ref : net.forwarders(group)) {
      if (view(ref).children.size() == 1) found.push_back(ref);
    }
    return found;
  }
};

INSTANTIATE_TEST_SUITE_P(Seeds, CollapseTest, testing::Values(1, 2, 3, 4));

TEST_P(CollapseTest, ForwardersOfOneChildGoWithoutLossOrDuplicate) {
  join_few();
  ASSERT_GE(superfluous().size(), 3u);
  const std::vector<PeerRef> members = net.members(group);
  publish_for(90s, outsider(), wire::AckMode::none);
  EXPECT_EQ(superfluous(), std::vector<PeerRef>{});
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  EXPECT_EQ(counted(&Counters::loops_found), 0u);
  expect_nothing_lost_or_twice(members);
}

TEST_P(CollapseTest, OnesThatAreNeededStay) {
  join_few();
  net.run_for(90s);
  for (const PeerRef ref : net.forwarders(group)) EXPECT_GE(view(ref).children.size(), 2u);
  const std::uint64_t before = counted(&Counters::collapses_started);
  net.run_for(5min);
  EXPECT_EQ(counted(&Counters::collapses_started), before);
}

TEST_P(CollapseTest, AJoinThatComesByMakesAForwarderAgain) {
  join_few();
  net.run_for(90s);
  const std::size_t before = net.members(group).size();
  for (std::size_t i = 1; i < refs.size(); i += 3) ASSERT_FALSE(net.join(refs[i], prices));
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  EXPECT_GT(net.members(group).size(), before);
  net.run_for(3min);
  EXPECT_EQ(superfluous(), std::vector<PeerRef>{});
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
}

TEST_P(CollapseTest, AMemberThatComesAndGoesDoesNotMakeItsForwardersFlap) {
  join_few();
  net.run_for(90s);
  PeerRef guest;
  for (const PeerRef ref : refs) {
    if (!net[ref].scribe().view(group) &&
        !net[net[ref].peer->pastry().next_hop(group)].scribe().view(group)) {
      guest = ref;
    }
  }
  ASSERT_TRUE(guest);
  const std::uint64_t before = counted(&Counters::collapses_started);
  for (int i = 0; i < 60; ++i) {
    ASSERT_FALSE(net.join(guest, prices));
    net.run_for(30s);
    net[guest].scribe().leave(group);
    net.run_for(1s);
  }
  // Up to five forwarders on its way, of which each was one for sixty times.
  EXPECT_LE(counted(&Counters::collapses_started) - before, 5u * 5u);
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
}

TEST_P(CollapseTest, AMemberThatBecomesAForwarderGoesToo) {
  join_few();
  net.run_for(90s);
  for (const PeerRef ref : net.members(group)) {
    if (view(ref).children.size() != 1 || view(ref).root) continue;
    net[ref].scribe().leave(group);
    net.run_for(30s);
    EXPECT_FALSE(net[ref].scribe().view(group));
    EXPECT_EQ(net.faults(group), std::vector<std::string>{});
    return;
  }
}

TEST_P(CollapseTest, ForwardersThatDieInTheMiddleOfItLeaveATree) {
  join_few();
  const PeerRef publisher = outsider();
  ASSERT_TRUE(net.run_until([&] { return !asked.empty(); }, 30s));
  net.kill(asked.back().to == root() ? told.back().from : asked.back().to);
  net.kill(told.back().from);
  publish_for(8s, publisher, wire::AckMode::none);
  const std::size_t from = published;
  publish_for(1s, publisher, wire::AckMode::none);
  expect_nothing_lost_or_twice(listeners(), from);
  net.run_for(90s);
  expect_sound_within(10s);
  EXPECT_EQ(superfluous(), std::vector<PeerRef>{});
}

TEST_P(CollapseTest, AMemberThatLeavesInTheMiddleOfItIsGone) {
  join_few();
  const std::vector<PeerRef> members = net.members(group);
  ASSERT_TRUE(net.run_until([&] { return !told.empty(); }, 30s));
  const PeerRef child = told.back().to;
  net[child].scribe().leave(group);
  net.run_for(90s);
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  EXPECT_EQ(superfluous(), std::vector<PeerRef>{});
}

TEST_P(CollapseTest, AForwarderThatIsGivenASecondChildMeanwhileStays) {
  join_few();
  ASSERT_TRUE(net.run_until([&] { return !told.empty(); }, 30s));
  const PeerRef forwarder = told.back().from;
  // A guest that is sent by just this way.
  const PeerRef guest = outsider();
  net[guest].scribe().join(prices, [](boost::system::error_code) {});
  net[forwarder].peer->receive(guest, wire::GroupJoin{group, prices, guest, 1, 1000});
  net.run_for(90s);
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  EXPECT_EQ(superfluous(), std::vector<PeerRef>{});
}

TEST_P(CollapseTest, GoesTogetherWithTheRemover) {
  net.config.scribe.children_entries_max = 3;
  join_few();
  const std::vector<PeerRef> members = net.members(group);
  publish_for(2min, outsider(), wire::AckMode::none);
  EXPECT_EQ(superfluous(), std::vector<PeerRef>{});
  EXPECT_LE(most_entries(), 3u);
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  expect_nothing_lost_or_twice(members);
  const std::uint64_t moves = counted(&Counters::relocations);
  net.run_for(10min);
  EXPECT_EQ(counted(&Counters::relocations), moves);
}

TEST_P(CollapseTest, IsOffIfSaidSo) {
  net.config.scribe.path_collapse = false;
  join_few();
  net.run_for(90s);
  EXPECT_TRUE(told.empty());
  EXPECT_GE(superfluous().size(), 3u);
}

}  // namespace
}  // namespace canopy::scribe::test
