// Nodes with too many children: who goes where, and that it comes to an end.
#include <set>

#include "scribe/relocation_test.hpp"

namespace canopy::scribe::test {
namespace {

class RemoverTest : public RelocationTest {
 protected:
  void join_groups(std::size_t groups, std::size_t nodes) {
    net.build(nodes);
    for (Box* box : net.live()) refs.push_back(box->ref);
    for (std::size_t i = 0; i < groups; ++i) {
      const wire::GroupName name{"group-" + std::to_string(i), "ann"};
      names.push_back(name);
      for (const PeerRef ref : refs) {
        net[ref].scribe().join(name, [](boost::system::error_code error) { EXPECT_FALSE(error); });
      }
      net.run_for(100ms);
    }
    net.run_for(5s);
  }
  void expect_all_sound() {
    for (const wire::GroupName& name : names) {
      EXPECT_EQ(net.faults(group_id(name, 160)), std::vector<std::string>{});
    }
  }

  std::vector<wire::GroupName> names;
};

INSTANTIATE_TEST_SUITE_P(Seeds, RemoverTest, testing::Values(1, 2, 3, 4));

TEST_P(RemoverTest, NobodyKeepsMoreChildrenThanAllowedAndNothingIsLost) {
  net.config.scribe.children_entries_max = 3;
  join_many(40);
  const std::vector<PeerRef> members = net.members(group);
  const PeerRef publisher = outsider();
  ASSERT_GT(most_entries(), 3u);
  publish_for(30s, publisher, wire::AckMode::none);
  EXPECT_LE(most_entries(), 3u);
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  EXPECT_GE(counted(&Counters::relocations), 1u);
  EXPECT_EQ(counted(&Counters::loops_found), 0u);
  expect_nothing_lost_or_twice(members);
}

TEST_P(RemoverTest, DropsTheFarthestChild) {
  net.config.scribe.children_entries_max = 3;
  join_many(40);
  ASSERT_TRUE(net.run_until([&] { return !told.empty(); }, 10s));
  const auto& first = told.front();
  const auto farness = [&](PeerRef child) {
    return *net[first.from].peer->pastry().round_trip(child);
  };
  for (const PeerRef child : view(first.from).children)
    EXPECT_LE(farness(child), farness(first.to));
  for (const PeerRef peer : first.message.candidates) {
    EXPECT_TRUE(has_child(first.from, peer));
    EXPECT_NE(peer, first.to);
  }
}

TEST_P(RemoverTest, AFlatTreeOfManyGetsAsManyChildrenAsAllowed) {
  net.config.pastry.b = 8;  // one hop to anybody
  net.config.pastry.leaf_set_size = 16;
  net.config.scribe.children_entries_max = 64;
  net.build(120);
  for (Box* box : net.live()) refs.push_back(box->ref);
  for (const PeerRef ref : refs) {
    net[ref].scribe().join(prices, [](boost::system::error_code) {});
  }
  net.run_for(500ms);
  ASSERT_GT(most_entries(), 65u);
  for (int second = 0; second < 60; ++second) net.run_for(1s);
  EXPECT_EQ(most_entries(), 64u);
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  EXPECT_LE(depth_of_tree(), 4u);
}

TEST_P(RemoverTest, CountsTheChildrenOfAllGroups) {
  net.config.scribe.children_entries_max = 8;
  join_groups(6, 40);  // 5.85 entries a node
  ASSERT_GE(counted(&Counters::children_dropped), 1u);
  net.run_for(3min);
  EXPECT_LE(most_entries(), 8u);
  expect_all_sound();
}

TEST_P(RemoverTest, NodesThatAllHaveTooManyComeToRest) {
  net.config.scribe.children_entries_max = 2;
  join_groups(6, 40);  // 234 edges
  net.run_for(10min);
  expect_all_sound();
  const std::uint64_t moves = counted(&Counters::relocations);
  const std::uint64_t joins = net.sent("GroupJoin");
  net.run_for(10min);
  EXPECT_LE(counted(&Counters::relocations) - moves, 2u);
  EXPECT_LE(net.sent("GroupJoin") - joins, 40u * 10 * 6);  // a few a minute each
  expect_all_sound();
  // Who comes late is taken in all the same.
  Box& late = net.add("late");
  EXPECT_FALSE(net.join(late.ref, names.front()));
}

TEST_P(RemoverTest, ARootThatGivesItsPlaceUpMeanwhileLosesNothing) {
  net.config.scribe.children_entries_max = 3;
  join_many(40);
  const std::vector<PeerRef> members = net.members(group);
  const PeerRef publisher = outsider();
  int handovers = 0;
  for (int i = 0; handovers < 2 && i < 400; ++i) {
    const std::string name = "newcomer-" + std::to_string(i);
    if (!closer_to(group, Id::hash_of(name), net.table().id(root()))) continue;
    ++handovers;
    Box& box = net.begin_add(name);
    while (!box.peer->pastry().active()) publish_for(20ms, publisher, wire::AckMode::none);
    publish_for(3s, publisher, wire::AckMode::none);
  }
  publish_for(20s, publisher, wire::AckMode::none);
  EXPECT_LE(most_entries(), 3u);
  expect_nothing_lost_or_twice(members);
  expect_sound_within(5s);
}

TEST_P(RemoverTest, ATreeThatIsPutInOrderSurvivesTheLossOfMany) {
  net.config.pastry.leaf_set_size = 16;
  net.config.scribe.children_entries_max = 3;
  join_many(60);
  net.run_for(2s);
  for (int i = 0; i < 12; ++i) net.kill(refs[net.random().below(refs.size())]);
  net.run_for(60s);
  expect_sound_within(30s);
  EXPECT_LE(most_entries(), 3u);
}

TEST_P(RemoverTest, IsOffWithoutALimit) {
  join_many(40);
  net.run_for(30s);
  EXPECT_TRUE(told.empty());
}

TEST_P(RemoverTest, AChildThatDoesNotGoIsLeftAloneForAWhile) {
  net.config.scribe.children_entries_max = 3;
  loses = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::Relocation>(message);
  };
  join_many(40);
  net.run_for(100s);
  std::set<std::pair<PeerRef, PeerRef>> pairs;
  for (const auto& sent : told) {
    EXPECT_TRUE(pairs.insert({sent.from, sent.to}).second) << "asked twice within a minute or two";
  }
  EXPECT_EQ(counted(&Counters::drops_in_vain), counted(&Counters::children_dropped));
  loses = nullptr;
  net.run_for(5min);
  EXPECT_LE(most_entries(), 3u);
}

// Any of them may be the one for which there is room by now.
TEST_P(RemoverTest, OfChildrenThatDoNotGoEachGetsItsTurn) {
  net.config.pastry.b = 8;  // one hop to anybody
  net.config.scribe.children_entries_max = 3;
  loses = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::Relocation>(message);
  };
  join_many(16);
  net.run_for(30min);
  std::set<PeerRef> told_to;
  for (const auto& sent : told) told_to.insert(sent.to);
  EXPECT_EQ(told_to.size(), view(root()).children.size());
  EXPECT_GT(told_to.size(), 8u);
}

}  // namespace
}  // namespace canopy::scribe::test
