// What becomes of edges that only one end knows, of cycles, and of publishers
// with a wrong idea of the root.
#include <algorithm>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/mini_net.hpp"

namespace canopy::scribe::test {
namespace {

using boost::system::error_code;

const wire::GroupName news{"news", "ann"};

class RepairTest : public testing::Test {
 protected:
  void build(std::size_t count) {
    net.build(count);
    for (Box* box : net.live()) refs.push_back(box->ref);
  }
  void everybody_joins(const wire::GroupName& name) {
    for (const PeerRef ref : refs) ASSERT_FALSE(net.join(ref, name));
    net.run_for(1s);
  }
  // A child with its parent, deep enough to have a subtree.
  std::pair<PeerRef, PeerRef> some_edge() {
    for (const PeerRef ref : refs) {
      const auto view = net[ref].scribe().view(group);
      if (view && view->parent && !view->children.empty()) return {view->parent, ref};
    }
    return {};
  }
  std::pair<PeerRef, PeerRef> some_leaf() {
    for (const PeerRef ref : refs) {
      const auto view = net[ref].scribe().view(group);
      if (view && view->parent && view->children.empty()) return {view->parent, ref};
    }
    return {};
  }
  bool has_child(PeerRef parent, PeerRef child) {
    const auto view = net[parent].scribe().view(group);
    return view && std::ranges::find(view->children, child) != view->children.end();
  }

  // Whether everybody knows the way down from the root.
  bool paths_right() {
    return std::ranges::all_of(refs, [this](PeerRef ref) {
      const auto view = net[ref].scribe().view(group);
      if (!view || !view->parent) return true;
      wire::Peers path = net[view->parent].scribe().view(group)->root_path;
      path.push_back(view->parent);
      return view->root_path == path;
    });
  }

  MiniNet net{7};
  const Id group = group_id(prices, 160);
  std::vector<PeerRef> refs;
};

TEST_F(RepairTest, AChildThatItsParentHasForgottenJoinsAgain) {
  build(30);
  everybody_joins(prices);
  everybody_joins(news);  // so that the neighbours share another edge
  const auto [parent, child] = some_edge();
  // As if the child had left: only the parent hears of it.
  net[parent].peer->receive(child, wire::Leave{group, 0x7fffffff});
  ASSERT_FALSE(has_child(parent, child));
  EXPECT_TRUE(net.run_until([&] { return net.faults(group).empty(); }, 5s));
}

TEST_F(RepairTest, AnEntryThatTheChildDoesNotKnowIsStruck) {
  build(30);
  everybody_joins(prices);
  everybody_joins(news);
  const auto [parent, child] = some_leaf();
  // The child leaves and nobody hears of it.
  net.lost = [leaver = child](PeerRef from, PeerRef, const wire::Message& message) {
    return from == leaver && std::holds_alternative<wire::Leave>(message);
  };
  net[child].scribe().leave(group);
  net.run_for(100ms);
  net.lost = nullptr;
  ASSERT_TRUE(has_child(parent, child));
  EXPECT_TRUE(net.run_until([&] { return !has_child(parent, child); }, 6s));
}

TEST_F(RepairTest, AStaleParentIsToldByTheFirstStrayMulticast) {
  build(30);
  everybody_joins(prices);
  const auto [parent, child] = some_edge();
  net[child].peer->receive(parent, wire::Orphaned{group});  // it finds another way...
  net.run_for(100ms);
  for (Box* box : net.live()) {
    if (box->ref == child) continue;
    wire::Multicast stray;
    stray.group = group;
    stray.id = {Id::hash_of("somebody"), 1, 1};
    const auto view = net[child].scribe().view(group);
    if (view->parent == box->ref) continue;
    const std::uint64_t before = net[child].scribe().counters().strays_dropped;
    net.run_for(2s);
    net[child].peer->receive(box->ref, stray);
    EXPECT_EQ(net[child].scribe().counters().strays_dropped, before + 1);
    break;
  }
}

TEST_F(RepairTest, AJoinFromAnAncestorIsPassedOn) {
  build(30);
  everybody_joins(prices);
  const auto [parent, child] = some_edge();
  const PeerRef below = net[child].scribe().view(group)->children.front();
  ASSERT_TRUE(below);
  // The child has lost its parent, and its JOIN goes by way of its own child.
  net[child].peer->pastry().route_via(below, group, wire::GroupJoin{group, prices, child, 77});
  net.run_for(1s);
  EXPECT_FALSE(has_child(below, child));
  EXPECT_EQ(net[below].scribe().counters().loops_refused, 1u);
  EXPECT_TRUE(net.run_until([&] { return net.faults(group).empty(); }, 10s));
}

// Else it would ask by its own way, find the child's own child, and refuse.
TEST_F(RepairTest, WhoIsNotInTheTreePassesAStraightJoinOn) {
  build(30);
  for (Box* box : net.live()) {
    if (box->ref.index() % 3 != 0) continue;
    ASSERT_FALSE(net.join(box->ref, prices));
  }
  const auto in_tree = [&](Box* box) { return box->scribe().view(group).has_value(); };
  std::vector<Box*> outside = net.live();
  std::erase_if(outside, in_tree);
  ASSERT_GE(outside.size(), 2u);
  wire::GroupJoin join{group, prices, outside[0]->ref, 77};
  const auto ask = [&] {
    outside[0]->peer->pastry().route_via(outside[1]->ref, group, join);
    net.run_for(50ms);
    return outside[1]->scribe().counters().joins_sent > 0;
  };
  join.straight = true;
  EXPECT_FALSE(ask());
  join.straight = false;
  EXPECT_TRUE(ask());
}

TEST_F(RepairTest, ANodeThatSeesItselfInItsPathFindsAnotherWay) {
  build(30);
  everybody_joins(prices);
  const auto [parent, child] = some_edge();
  const wire::Peers path{net.closest_live(group), child, parent};
  net[child].peer->receive(parent, wire::RootPathUpdate{group, path});
  EXPECT_EQ(net[child].scribe().counters().loops_found, 1u);
  EXPECT_TRUE(net.run_until([&] { return net.faults(group).empty(); }, 10s));
}

TEST_F(RepairTest, AClosedRingIsBrokenUp) {
  build(40);
  everybody_joins(prices);
  // A grandchild becomes the parent, as far as the upper one knows.
  const auto [parent, child] = some_edge();
  const PeerRef below = net[child].scribe().view(group)->children.front();
  net[child].peer->receive(parent, wire::Orphaned{group});
  const auto path_of = [&](PeerRef ref) { return net[ref].scribe().view(group)->root_path; };
  wire::Peers stale = path_of(below);
  std::erase(stale, child);
  stale.push_back(below);
  // Whatever its nonce: one of the next few.
  for (std::uint32_t nonce = 1; nonce < 2000; ++nonce) {
    net[child].peer->receive(below, wire::JoinAck{group, nonce, stale});
  }
  EXPECT_TRUE(net.run_until([&] { return net.faults(group).empty(); }, 15s));
}

TEST_F(RepairTest, AChildWithoutASignOfLifeExpires) {
  build(30);
  everybody_joins(prices);
  const auto [parent, child] = some_edge();
  const auto neighbours = net[child].scribe().view(group);
  // The child is gone, and nothing but silence tells.
  net.lost = [&](PeerRef from, PeerRef to, const wire::Message& message) {
    return from == child || (to == child && !wire::for_pastry(message));
  };
  EXPECT_TRUE(net.run_until([&] { return !has_child(parent, child); }, 70s));
}

TEST_F(RepairTest, APublisherWithAStaleCacheIsCorrected) {
  build(40);
  everybody_joins(prices);
  const PeerRef root = net.closest_live(group);
  const PeerRef publisher = refs[0] == root ? refs[1] : refs[0];
  const PeerRef wrong = refs[2] == root ? refs[3] : refs[2];
  net[publisher].peer->receive(root, wire::RootAddress{group, wrong});
  net.shout(publisher, prices, "first");
  net.run_for(500ms);
  for (const PeerRef ref : refs) EXPECT_EQ(net[ref].count("first"), 1u);
  EXPECT_EQ(net[wrong].scribe().counters().publishes_forwarded, 1u);
  net.shout(publisher, prices, "second");
  net.run_for(500ms);
  for (const PeerRef ref : refs) EXPECT_EQ(net[ref].count("second"), 1u);
  EXPECT_EQ(net[wrong].scribe().counters().publishes_forwarded, 1u);
}

TEST_F(RepairTest, APublisherWithADeadRootInItsCacheGetsThrough) {
  build(40);
  everybody_joins(prices);
  const PeerRef root = net.closest_live(group);
  const PeerRef publisher = refs[0] == root ? refs[1] : refs[0];
  ASSERT_FALSE(net.publish(publisher, prices, "first").error);
  net.hang(root);
  const PublishOutcome outcome = net.publish(publisher, prices, "second");
  EXPECT_FALSE(outcome.error);
  EXPECT_NE(outcome.root, root);
}

// On waking it hears first that the root has gone, and then what time it is.
TEST_F(RepairTest, AStoppedPublisherDoesNotTryAgainAfterItsDeadline) {
  build(10);
  everybody_joins(prices);
  const PeerRef root = net.closest_live(group);
  const PeerRef publisher = refs[0] == root ? refs[1] : refs[0];
  ASSERT_FALSE(net.publish(publisher, prices, "first").error);
  net.kill(root);
  net.lost = [root](PeerRef, PeerRef to, const wire::Message&) { return to == root; };
  std::optional<error_code> told;
  net[publisher].scribe().publish(prices, wire::AckMode::root, Buffer::copy_of("late"),
                                  [&told](const PublishOutcome& outcome) { told = outcome.error; });
  net.hang(publisher);
  net.run_for(net.config.scribe.request_timeout + 1s);
  net[publisher].peer->unreachable(root);
  net.wake_up(publisher, MiniNet::WakesTo::inbox);
  net.run_for(1s);
  EXPECT_EQ(told, errc::timed_out);
  EXPECT_EQ(net[publisher].scribe().counters().publish_retries, 0u);
}

TEST_F(RepairTest, ARetriedPublishReachesMembersOnce) {
  build(40);
  everybody_joins(prices);
  // Acks get lost for a while: the publisher asks again and again.
  int losses = 3;
  net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::PublishAck>(message) && losses-- > 0;
  };
  const PeerRef publisher = refs[0] == net.closest_live(group) ? refs[1] : refs[0];
  EXPECT_FALSE(net.publish(publisher, prices, "hello").error);
  net.run_for(1s);
  EXPECT_EQ(net[publisher].scribe().counters().publish_retries, 3u);
  for (const PeerRef ref : refs) EXPECT_EQ(net[ref].count("hello"), 1u);
}

TEST_F(RepairTest, APublishThatNobodyAcknowledgesTimesOut) {
  build(10);
  everybody_joins(prices);
  net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::PublishAck>(message);
  };
  const PeerRef publisher = refs[0] == net.closest_live(group) ? refs[1] : refs[0];
  const MonoTime then = net.now();
  EXPECT_EQ(net.publish(publisher, prices, "hello").error, errc::timed_out);
  EXPECT_EQ(net.now() - then, net.config.scribe.request_timeout);
}

// Only a true path shows a cycle.
TEST_F(RepairTest, APathThatGotLostIsToldAgain) {
  build(30);
  everybody_joins(prices);
  const auto [parent, child] = some_edge();
  net[child].peer->receive(parent, wire::RootPathUpdate{group, {refs[0], refs[1], parent}});
  net.run_for(100ms);
  ASSERT_FALSE(paths_right());
  EXPECT_TRUE(net.run_until([&] { return paths_right(); }, 5s));
  net.run_for(60s);
  EXPECT_EQ(net[child].scribe().counters().set_mismatches, 1U);
}

TEST_F(RepairTest, ALostJoinAckIsAskedForAgain) {
  build(20);
  int losses = 2;
  net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::JoinAck>(message) && losses-- > 0;
  };
  for (const PeerRef ref : refs) EXPECT_FALSE(net.join(ref, prices));
  net.run_for(1s);
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
}

TEST_F(RepairTest, AJoinThatNobodyAnswersFailsInTheEnd) {
  build(10);
  const PeerRef joiner = refs[0] == net.closest_live(group) ? refs[1] : refs[0];
  net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
    return wire::type_name(message) == "GroupJoin";
  };
  EXPECT_EQ(net.join(joiner, prices), errc::timed_out);
  EXPECT_FALSE(net[joiner].scribe().view(group));
}

TEST_F(RepairTest, AJoinThatEverybodyIsTooFullForSaysSo) {
  net.config.scribe.children_max = 1;
  build(10);
  const PeerRef root = net.closest_live(group);
  std::vector<PeerRef> others = refs;
  std::erase(others, root);
  net.lost = [&](PeerRef, PeerRef to, const wire::Message& message) {
    return to == others[0] && wire::type_name(message) == "GroupJoin";
  };
  ASSERT_FALSE(net.join(others[0], prices));
  EXPECT_EQ(net.join(others[1], prices), errc::limit);
}

TEST_F(RepairTest, NonsenseFromOutsideIsCounted) {
  build(10);
  everybody_joins(prices);
  Box& box = net[refs[0]];
  const PeerRef from = refs[1];
  const std::uint64_t before = box.scribe().counters().malformed;
  wire::GroupSetPage page;
  page.first = Id::hash_of("b");
  page.last = Id{};
  box.peer->receive(from, page);
  wire::RootStates states;
  states.states.emplace_back();
  states.states.back().group = group;
  states.states.back().name = {"another name", ""};
  states.states.back().epoch = 99;
  box.peer->receive(from, states);
  EXPECT_EQ(box.scribe().counters().malformed, before + 2);
  box.peer->receive(from, wire::Leave{Id::hash_of("?"), 1});
  box.peer->receive(from, wire::Orphaned{Id::hash_of("?")});
  box.peer->receive(from, wire::JoinRefused{group, 1, wire::JoinRefusal::denied});
  box.peer->receive(from, wire::PublishAck{});
  box.peer->receive(from, wire::AnycastReply{});
  box.peer->receive(from, wire::TreeReply{});
  box.peer->receive(from, wire::GroupCreateReply{1, 1});
  box.peer->receive(from, wire::RootStatesAck{1});
  box.peer->receive(from, wire::RootStateReply{});
  EXPECT_EQ(net.faults(group), std::vector<std::string>{});
}

}  // namespace
}  // namespace canopy::scribe::test
