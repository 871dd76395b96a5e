#include "pastry/pastry.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "pastry/test_network.hpp"

namespace canopy::pastry::test {
namespace {

using namespace std::chrono_literals;

wire::RoutedBody body(std::uint8_t kind = 200) { return wire::OpaqueBody{kind, {}, {}}; }

std::size_t deliveries(TestNetwork& network) {
  std::size_t total = 0;
  for (const auto& [ref, node] : network.nodes()) total += node->seen.delivered.size();
  return total;
}

// Routes to random keys from random nodes and counts those that a wrong node,
// or nobody, or more than one delivers.
std::size_t wrong_routes(TestNetwork& network, std::size_t count, Duration patience) {
  Random random(99);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto ring = network.ring();
    const Id key = Id::hash_of("key-" + std::to_string(i));
    TestNode* root = network.root_of(key);
    const std::size_t before = root->seen.delivered.size();
    const std::size_t all_before = deliveries(network);
    ring[random.below(ring.size())]->pastry->route(key, body());
    network.run_until([&] { return root->seen.delivered.size() > before; }, patience);
    const bool once =
        root->seen.delivered.size() == before + 1 && deliveries(network) == all_before + 1;
    wrong += !once;
  }
  return wrong;
}

TEST(Pastry, FirstNodeIsActiveAtOnceAndDeliversEverything) {
  TestNetwork network{Config{}};
  TestNode& node = network.add("alone");
  node.pastry->found();
  EXPECT_TRUE(node.pastry->active());
  EXPECT_EQ(node.seen.activations, 1U);
  node.pastry->route(Id::hash_of("key"), body());
  ASSERT_EQ(node.seen.delivered.size(), 1U);
  EXPECT_EQ(node.seen.delivered[0].key, Id::hash_of("key"));
}

TEST(Pastry, NodesThatJoinOneByOneFormOneRing) {
  TestNetwork network{Config{}};
  network.grow(60);
  network.run_for(std::chrono::seconds(5));
  EXPECT_EQ(network.ring().size(), 60U);
  EXPECT_TRUE(network.leaf_sets_exact());
  EXPECT_EQ(wrong_routes(network, 200, std::chrono::seconds(1)), 0U);
}

TEST(Pastry, HundredNodesStartedAtOnceThroughOneContactFormOneRing) {
  TestNetwork network{Config{}, 7};
  TestNode& contact = network.add("contact");
  const PeerRef ref = network.nodes().begin()->first;
  for (int i = 0; i < 100; ++i) network.add("n" + std::to_string(i)).pastry->join({ref});
  contact.pastry->found();
  EXPECT_TRUE(
      network.run_until([&] { return network.ring().size() == 101; }, std::chrono::seconds(60)));
  network.run_for(std::chrono::seconds(5));
  EXPECT_TRUE(network.leaf_sets_exact());
  EXPECT_EQ(wrong_routes(network, 100, std::chrono::seconds(1)), 0U);
}

TEST(Pastry, ManyStartedAtOnceThroughAContactThatStillJoinsFormOneRing) {
  TestNetwork network{Config{}, 11};
  network.grow(3);
  TestNode& late = network.add("late");
  const PeerRef late_ref = late.pastry->self();
  for (int i = 0; i < 30; ++i) network.add("n" + std::to_string(i)).pastry->join({late_ref});
  network.run_for(std::chrono::seconds(1));
  EXPECT_EQ(network.ring().size(), 3U) << "nobody joins through a contact outside the ring";
  late.pastry->join({network.nodes().begin()->first});
  EXPECT_TRUE(
      network.run_until([&] { return network.ring().size() == 34; }, std::chrono::seconds(60)));
  network.run_for(std::chrono::seconds(5));
  EXPECT_TRUE(network.leaf_sets_exact());
}

TEST(Pastry, InactiveNodesAloneFormNoIsland) {
  TestNetwork network{Config{}};
  TestNode& a = network.add("a");
  TestNode& b = network.add("b");
  a.pastry->join({b.pastry->self()});
  b.pastry->join({a.pastry->self()});
  network.run_for(std::chrono::seconds(60));
  EXPECT_FALSE(a.pastry->active());
  EXPECT_FALSE(b.pastry->active());
  EXPECT_FALSE(a.seen.stalls.empty());
}

TEST(Pastry, JoinsSurviveTenPercentLoss) {
  TestNetwork network{Config{}, 5};
  network.grow(1);
  network.loss = 0.1;
  for (int i = 0; i < 40; ++i) {
    network.add("n" + std::to_string(i)).pastry->join({network.nodes().begin()->first});
  }
  EXPECT_TRUE(
      network.run_until([&] { return network.ring().size() == 41; }, std::chrono::seconds(120)));
  network.loss = 0;
  EXPECT_TRUE(
      network.run_until([&] { return network.leaf_sets_exact(); }, std::chrono::minutes(5)));
}

TEST(Pastry, TwoSimultaneousJoinsNextToEachOtherFindEachOther) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    TestNetwork network{Config{}, seed};
    network.grow(40);
    const Id place = Id::hash_of("place" + std::to_string(seed));
    TestNode& a = network.add_at(place, "a");
    TestNode& b = network.add_at(place.with_digit(39, 4, place.digit(39, 4) ^ 1U), "b");
    const PeerRef contact = network.nodes().begin()->first;
    a.pastry->join({contact});
    b.pastry->join({std::next(network.nodes().begin(), 20)->first});
    EXPECT_TRUE(network.run_until([&] { return a.pastry->active() && b.pastry->active(); },
                                  std::chrono::seconds(30)));
    EXPECT_TRUE(a.pastry->leaf_set().contains(b.pastry->self()));
    EXPECT_TRUE(b.pastry->leaf_set().contains(a.pastry->self()));
    network.run_for(std::chrono::seconds(1));
    EXPECT_TRUE(network.leaf_sets_exact()) << "seed " << seed;
  }
}

TEST(Pastry, JoinerThatDiesWhileItIsHelpedHoldsOthersUpNoLongerThanTheTimeout) {
  Config config;
  TestNetwork network{config, 3};
  network.grow(2);
  const PeerRef contact = network.nodes().begin()->first;
  TestNode& doomed = network.add("doomed");
  network.censor = [&](PeerRef, PeerRef to, const wire::Message& message) {
    const bool reply = std::holds_alternative<wire::JoinReply>(message);
    if (reply && to == doomed.pastry->self()) network.crash(doomed);
    return false;
  };
  doomed.pastry->join({contact});
  EXPECT_TRUE(network.run_until([&] { return doomed.crashed; }, std::chrono::seconds(5)));
  std::vector<TestNode*> others;
  for (int i = 0; i < 10; ++i) {
    others.push_back(&network.add("n" + std::to_string(i)));
    others.back()->pastry->join({contact});
  }
  EXPECT_TRUE(network.run_until([&] { return network.ring().size() == 12; },
                                config.join_help_timeout + std::chrono::seconds(5)));
  network.run_for(std::chrono::seconds(5));
  EXPECT_TRUE(network.leaf_sets_exact());
}

TEST(Pastry, CrashedNodesAreEvictedAndLeafSetsRepaired) {
  TestNetwork network{Config{}, 2};
  network.grow(60);
  network.run_for(std::chrono::seconds(2));
  const auto ring = network.ring();
  for (const std::size_t index : {3U, 4U, 5U, 20U, 40U}) network.crash(*ring[index]);
  EXPECT_TRUE(
      network.run_until([&] { return network.leaf_sets_exact(); }, std::chrono::seconds(15)));
  EXPECT_EQ(wrong_routes(network, 200, std::chrono::seconds(3)), 0U);
}

TEST(Pastry, SilentRootIsReplacedWithinTwoSecondsOfTraffic) {
  TestNetwork network{Config{}, 2};
  network.grow(30);
  network.run_for(std::chrono::seconds(2));
  const Id key = Id::hash_of("some key");
  network.hang(*network.root_of(key));
  const auto ring = network.ring();
  TestNode& origin = ring[0]->hung ? *ring[1] : *ring[0];
  origin.pastry->route(key, body());
  const auto delivered = [&] {
    return std::any_of(ring.begin(), ring.end(),
                       [](const TestNode* node) { return !node->seen.delivered.empty(); });
  };
  EXPECT_TRUE(network.run_until(delivered, std::chrono::milliseconds(2500)));
}

TEST(Pastry, SilentForwarderIsRoutedAroundWellBelowASecond) {
  TestNetwork network{Config{}, 4};
  network.grow(200);
  network.run_for(std::chrono::seconds(3));
  Random random(3);
  unsigned tried = 0;
  for (int i = 0; i < 200 && tried < 10; ++i) {
    const Id key = Id::hash_of("k" + std::to_string(i));
    const auto ring = network.ring();
    TestNode& origin = *ring[random.below(ring.size())];
    const PeerRef first = origin.pastry->next_hop(key);
    TestNode* root = network.root_of(key);
    if (!first || first == root->pastry->self() || &origin == root) continue;
    ++tried;
    TestNode& silent = network.node(first);
    network.hang(silent);
    const std::size_t before = root->seen.delivered.size();
    origin.pastry->route(key, body());
    EXPECT_TRUE(network.run_until([&] { return root->seen.delivered.size() > before; },
                                  std::chrono::milliseconds(600)));
    network.resume(silent);
    network.run_for(std::chrono::seconds(5));
  }
  EXPECT_EQ(tried, 10U);
}

TEST(Pastry, NodeThatWasStoppedComesBackIntoTheRing) {
  TestNetwork network{Config{}, 6};
  network.grow(30);
  network.run_for(std::chrono::seconds(2));
  TestNode& sleeper = *network.ring()[7];
  network.hang(sleeper);
  network.run_for(std::chrono::seconds(20));
  for (TestNode* node : network.ring()) {
    if (node != &sleeper) {
      EXPECT_FALSE(node->pastry->leaf_set().contains(sleeper.pastry->self()));
    }
  }
  const std::size_t evictions = sleeper.pastry->counters().evictions;
  network.resume(sleeper);
  EXPECT_TRUE(
      network.run_until([&] { return network.leaf_sets_exact(); }, std::chrono::seconds(10)));
  network.run_for(std::chrono::seconds(5));
  EXPECT_EQ(sleeper.pastry->counters().evictions, evictions) << "it blames nobody for its sleep";
}

TEST(Pastry, RestartedNodeReplacesItsOldSelfAtOnce) {
  TestNetwork network{Config{}, 8};
  network.grow(40);
  network.run_for(std::chrono::seconds(2));
  TestNode& old_self = *network.ring()[11];
  const std::string name = network.peers()[old_self.pastry->self()].name;
  network.crash(old_self);
  TestNode& new_self = network.add(name, 2);
  new_self.pastry->join({network.ring()[0]->pastry->self()});
  EXPECT_TRUE(
      network.run_until([&] { return new_self.pastry->active(); }, std::chrono::seconds(1)));
  network.run_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(network.leaf_sets_exact());
  for (TestNode* node : network.ring()) {
    EXPECT_FALSE(node->pastry->leaf_set().contains(old_self.pastry->self()));
  }
  EXPECT_EQ(wrong_routes(network, 50, std::chrono::seconds(1)), 0U);
}

// They have only each other for contacts, and the ring looks for those that it lost.
TEST(Pastry, WhoIsCalledByAMemberJoinsByIt) {
  TestNetwork network{Config{}, 8};
  network.grow(20);
  network.run_for(2s);
  TestNode* const lost[] = {network.ring()[4], network.ring()[12]};
  std::vector<TestNode*> again;
  for (TestNode* node : lost) {
    const std::string name = network.peers()[node->pastry->self()].name;
    network.crash(*node);
    again.push_back(&network.add(name, 2));
  }
  again[0]->pastry->join({again[1]->pastry->self()});
  again[1]->pastry->join({again[0]->pastry->self()});
  network.run_for(5s);
  ASSERT_FALSE(again[0]->pastry->active() || again[1]->pastry->active());
  network.ring()[0]->pastry->receive(again[0]->pastry->self(), wire::TreeHeartbeat{});
  EXPECT_TRUE(network.run_until(
      [&] { return again[0]->pastry->active() && again[1]->pastry->active(); }, 30s));
}

TEST(Pastry, OlderSelfIsNotListenedToAndIsTold) {
  TestNetwork network{Config{}, 8};
  network.grow(20);
  network.run_for(std::chrono::seconds(2));
  TestNode& old_self = *network.ring()[5];
  const std::string name = network.peers()[old_self.pastry->self()].name;
  TestNode& usurper = network.add(name, 2);
  usurper.pastry->join({network.ring()[0]->pastry->self()});
  EXPECT_TRUE(network.run_until([&] { return usurper.pastry->active(); }, std::chrono::seconds(5)));
  EXPECT_TRUE(network.run_until([&] { return !old_self.seen.superseded_by.empty(); },
                                std::chrono::seconds(5)));
  EXPECT_EQ(old_self.seen.superseded_by[0], usurper.pastry->self());
}

TEST(Pastry, DepartingNodeIsDroppedAtOnce) {
  TestNetwork network{Config{}, 9};
  network.grow(40);
  network.run_for(std::chrono::seconds(2));
  TestNode& leaver = *network.ring()[13];
  leaver.pastry->depart();
  EXPECT_FALSE(leaver.pastry->active());
  network.run_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(network.leaf_sets_exact());
  EXPECT_EQ(wrong_routes(network, 50, std::chrono::seconds(1)), 0U);
}

TEST(Pastry, NeighborsThatLeaveAtOnceDoNotTossAMessageAboutAmongThem) {
  TestNetwork network{Config{}, 9};
  network.grow(40);
  network.run_for(std::chrono::seconds(2));
  const Id key = Id::hash_of("a key");
  const wire::Peers nearest = network.root_of(key)->pastry->closest(key, 4);
  network.root_of(key)->pastry->route(key, body());
  // Each in turn is the root, and about to leave.
  for (std::size_t i = 0; i + 1 < nearest.size(); ++i) {
    TestNode& leaver = network.node(nearest[i]);
    ASSERT_EQ(leaver.seen.delivered.size(), 1U);
    leaver.pastry->hand_over({}, leaver.seen.delivered[0]);
    network.run_for(std::chrono::milliseconds(300));
  }
  EXPECT_EQ(network.node(nearest[3]).seen.delivered.size(), 1U);
  EXPECT_EQ(deliveries(network), 4U);
}

TEST(Pastry, AMessageThatEverybodyHandsOverEndsAndIsCounted) {
  TestNetwork network{Config{}, 9};
  network.grow(3);
  network.run_for(std::chrono::seconds(1));
  const Id key = Id::hash_of("a key");
  const wire::Peers nearest = network.root_of(key)->pastry->closest(key, 3);
  network.root_of(key)->pastry->route(key, body());
  for (const PeerRef leaver : nearest) {
    network.node(leaver).pastry->hand_over({}, network.node(leaver).seen.delivered.at(0));
    network.run_for(std::chrono::milliseconds(300));
  }
  EXPECT_EQ(deliveries(network), 3U);
  EXPECT_EQ(network.node(nearest[2]).pastry->counters().undelivered_drops, 1U);
}

TEST(Pastry, JoinerThatGivesUpIsDroppedAtOnce) {
  TestNetwork network{Config{}, 9};
  network.grow(40);
  network.run_for(std::chrono::seconds(2));
  TestNode& joiner = network.add("comes and goes");
  const PeerRef self = joiner.pastry->self();
  const auto knows_joiner = [&](TestNode* node) { return node->pastry->leaf_set().contains(self); };
  joiner.pastry->join({network.ring()[0]->pastry->self()});
  ASSERT_TRUE(network.run_until([&] { return std::ranges::any_of(network.ring(), knows_joiner); },
                                std::chrono::seconds(5)));
  ASSERT_FALSE(joiner.pastry->active());
  joiner.pastry->depart();
  network.run_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(std::ranges::none_of(network.ring(), knows_joiner));
  EXPECT_EQ(wrong_routes(network, 50, std::chrono::seconds(1)), 0U);
}

TEST(Pastry, PeersEvictedByACutBetweenThemMeetAgain) {
  TestNetwork network{Config{}, 10};
  network.grow(20);
  network.run_for(std::chrono::seconds(2));
  const auto ring = network.ring();
  const std::set<PeerRef> pair{ring[3]->pastry->self(), ring[4]->pastry->self()};
  network.censor = [&](PeerRef from, PeerRef to, const wire::Message& message) {
    const bool relayed = std::holds_alternative<wire::Relay>(message);
    return relayed || (pair.contains(from) && pair.contains(to));
  };
  network.run_for(std::chrono::seconds(20));
  EXPECT_FALSE(network.leaf_sets_exact());
  network.censor = nullptr;
  EXPECT_TRUE(
      network.run_until([&] { return network.leaf_sets_exact(); }, std::chrono::minutes(3)));
}

TEST(Pastry, APeerThatShouldBeALeafBecomesOneByWhateverItSays) {
  TestNetwork network{Config{}, 10};
  network.grow(20);
  network.run_for(std::chrono::seconds(2));
  Pastry& one = *network.ring()[3]->pastry;
  const PeerRef other = network.ring()[4]->pastry->self();
  one.forget(other);
  ASSERT_FALSE(one.leaf_set().contains(other));
  bool asked = false;
  network.censor = [&](PeerRef, PeerRef to, const wire::Message& message) {
    asked |= to == other && std::holds_alternative<wire::LeafProbe>(message);
    return false;
  };
  one.receive(other, wire::TreeHeartbeat{});
  EXPECT_TRUE(asked);
  network.run_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(one.leaf_set().contains(other));
}

TEST(Pastry, DeadPeersAreNotBroughtBackByHearsay) {
  TestNetwork network{Config{}, 12};
  network.grow(40);
  network.run_for(std::chrono::seconds(2));
  TestNode& dead = *network.ring()[9];
  network.crash(dead);
  ASSERT_TRUE(
      network.run_until([&] { return network.leaf_sets_exact(); }, std::chrono::seconds(15)));
  for (int i = 0; i < 60; ++i) {
    network.run_for(std::chrono::seconds(1));
    ASSERT_TRUE(network.leaf_sets_exact());
  }
}

// A ring of 20, and one who joins at `key`: known to the others, but not active before
// admit(), as its last leaf probe stays unanswered.
class PastryJoinerTest : public ::testing::Test {
 protected:
  PastryJoinerTest() {
    network.grow(20);
    joiner = &network.add_at(key, "joiner");
    const PeerRef silent = network.ring()[0]->pastry->self();
    network.censor = [this, silent](PeerRef from, PeerRef to, const wire::Message& message) {
      return !open_ && from == silent && to == joiner->pastry->self() &&
             std::holds_alternative<wire::LeafProbe>(message);
    };
    joiner->pastry->join({silent});
    network.run_for(std::chrono::milliseconds(800));
    EXPECT_FALSE(joiner->pastry->active());
  }

  void route(std::size_t from, wire::RoutedBody body) {
    network.ring()[from]->pastry->route(key, std::move(body));
    network.run_for(std::chrono::milliseconds(100));
  }
  void admit() {
    open_ = true;
    ASSERT_TRUE(
        network.run_until([this] { return joiner->pastry->active(); }, std::chrono::seconds(3)));
    network.run_for(std::chrono::milliseconds(200));  // its neighbours grant their leases
  }

  TestNetwork network{Config{}, 13};
  const Id key = Id::hash_of("held");
  TestNode* joiner = nullptr;

 private:
  bool open_ = false;
};

TEST_F(PastryJoinerTest, MessagesAreHeldUntilItIsActive) {
  route(1, body());
  EXPECT_EQ(joiner->pastry->counters().held, 1U);
  EXPECT_EQ(deliveries(network), 0U);
  admit();
  EXPECT_EQ(joiner->seen.delivered.size(), 1U);
  EXPECT_EQ(deliveries(network), 1U);
}

TEST_F(PastryJoinerTest, WhoAskedToBeAMemberIsAskedInBeforeWhatCameEarlierIsToldOn) {
  std::vector<PeerRef> asked;
  const auto ask_in = [&](std::size_t from) {
    wire::GroupJoin join;
    join.group = key;
    join.child = network.ring()[from]->pastry->self();
    asked.push_back(join.child);
    route(from, join);
  };
  route(1, body(200));
  ask_in(2);
  route(3, body(201));
  ask_in(4);
  EXPECT_EQ(joiner->pastry->counters().held, 4U);
  admit();
  std::vector<PeerRef> children;
  std::vector<std::uint8_t> others;
  for (const wire::Routed& message : joiner->seen.delivered) {
    if (const auto* join = std::get_if<wire::GroupJoin>(message.body.get())) {
      EXPECT_TRUE(others.empty());
      children.push_back(join->child);
    } else {
      others.push_back(std::get<wire::OpaqueBody>(*message.body).kind);
    }
  }
  EXPECT_EQ(children, asked);
  EXPECT_EQ(others, (std::vector<std::uint8_t>{200, 201}));
}

TEST(Pastry, RouteTraceNamesEveryHop) {
  TestNetwork network{Config{}, 14};
  network.grow(100);
  network.run_for(std::chrono::seconds(2));
  TestNode& origin = *network.ring()[0];
  const Id key = Id::hash_of("traced");
  TestNode* root = network.root_of(key);
  std::optional<wire::Peers> hops;
  origin.pastry->trace(key, std::chrono::seconds(2), [&](auto result) { hops = *result; });
  ASSERT_TRUE(network.run_until([&] { return hops.has_value(); }, std::chrono::seconds(3)));
  ASSERT_FALSE(hops->empty());
  EXPECT_EQ(hops->back(), root->pastry->self());

  hops.reset();
  root->pastry->trace(key, std::chrono::seconds(2), [&](auto result) { hops = *result; });
  EXPECT_FALSE(hops.has_value()) << "never from within the call";
  ASSERT_TRUE(network.run_until([&] { return hops.has_value(); }, std::chrono::seconds(3)));
  EXPECT_TRUE(hops->empty()) << "the root is the origin itself";
}

TEST(Pastry, TraceWithoutAnswerTimesOut) {
  TestNetwork network{Config{}, 14};
  network.grow(20);
  network.censor = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::RouteTraceReply>(message);
  };
  bool timed_out = false;
  for (int i = 0; i < 20; ++i) {
    network.ring()[0]->pastry->trace(
        Id::hash_of("t" + std::to_string(i)), std::chrono::seconds(1),
        [&](auto result) { timed_out = timed_out || result.has_error(); });
  }
  network.run_for(std::chrono::seconds(2));
  EXPECT_TRUE(timed_out);
}

TEST(Pastry, WalkFindsThePeersOfTheRingInOrder) {
  for (const std::size_t size : {1U, 2U, 9U, 16U, 17U, 18U, 30U, 120U}) {
    TestNetwork network{Config{}, size};
    network.grow(size);
    network.run_for(std::chrono::seconds(3));
    const auto ring = network.ring();
    const std::size_t start = size / 3;
    std::optional<wire::Peers> found;
    ring[start]->pastry->walk_ring(std::chrono::seconds(10), [&](auto result) { found = *result; });
    ASSERT_TRUE(network.run_until([&] { return found.has_value(); }, std::chrono::seconds(11)));
    ASSERT_EQ(found->size(), size);
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ((*found)[i], ring[(start + i) % size]->pastry->self());
    }
  }
}

TEST(Pastry, WalkGoesAroundASilentPeer) {
  TestNetwork network{Config{}, 3};
  network.grow(60);
  network.run_for(std::chrono::seconds(3));
  const auto ring = network.ring();
  network.hang(*ring[8]);
  network.hang(*ring[15]);
  std::optional<wire::Peers> found;
  ring[0]->pastry->walk_ring(std::chrono::seconds(20), [&](auto result) { found = *result; });
  ASSERT_TRUE(network.run_until([&] { return found.has_value(); }, std::chrono::seconds(21)));
  EXPECT_GE(found->size(), 58U);
}

// A node that knows one peer of row 0 at 20 ms, and hears of another for the
// same entry from an announcer at a distance of the test's choice.
class AnnouncedPeer : public ::testing::Test {
 protected:
  void announce(Duration announcer_distance) {
    node.pastry->found();
    node.pastry->learn(entry, 20ms);
    node.pastry->learn(announcer, announcer_distance);
    network.censor = [this](PeerRef from, PeerRef to, const wire::Message& message) {
      if (from != node.pastry->self() || to != candidate) return false;
      probes += std::holds_alternative<wire::Probe>(message);
      reports += std::holds_alternative<wire::DistanceReport>(message);
      if (const auto* probe = std::get_if<wire::Probe>(&message)) nonce = probe->nonce;
      return true;
    };
    node.pastry->receive(announcer, wire::RowAnnounce{{0, {candidate}}});
  }
  PeerRef peer(std::string_view hex) {
    return network.peers().intern({*Id::from_hex(hex), 1, std::string(hex), {}, 0, ""});
  }

  TestNetwork network{config()};
  TestNode& node = network.add_at(*Id::from_hex("80"), "node");
  const PeerRef entry = peer("10");
  const PeerRef candidate = peer("11");
  const PeerRef announcer = peer("20");
  unsigned probes = 0;
  unsigned reports = 0;
  std::uint32_t nonce = 0;

 private:
  static Config config() {
    Config config;
    config.neighborhood_size = 0;
    config.leaf_set_size = 2;
    return config;
  }
};

TEST_F(AnnouncedPeer, IsMeasuredIfTheAnnouncerIsCloserThanTheEntry) {
  announce(10ms);
  EXPECT_EQ(probes, 1U);
}

TEST_F(AnnouncedPeer, IsNotMeasuredIfTheAnnouncerIsFartherThanTheEntry) {
  announce(30ms);
  EXPECT_EQ(probes, 0U);
}

TEST_F(AnnouncedPeer, LearnsTheDistanceIfItTakesTheEntry) {
  node.pastry->learn_leaf(peer("81"));
  node.pastry->learn_leaf(peer("7f"));
  announce(10ms);
  network.run_for(15ms);
  node.pastry->receive(candidate, wire::ProbeReply{nonce});
  EXPECT_EQ(node.pastry->routing_table().at(0, 1), candidate);
  EXPECT_EQ(reports, 1U);
}

TEST_F(AnnouncedPeer, LearnsNothingIfItIsFartherThanTheEntry) {
  node.pastry->learn_leaf(peer("81"));
  node.pastry->learn_leaf(peer("7f"));
  announce(10ms);
  network.run_for(25ms);
  node.pastry->receive(candidate, wire::ProbeReply{nonce});
  EXPECT_EQ(node.pastry->routing_table().at(0, 1), entry);
  EXPECT_EQ(reports, 0U);
}

TEST(Pastry, QuietNetworkStaysQuietWithoutMaintenance) {
  Config config;
  config.maintenance = false;
  TestNetwork network{config, 15};
  network.grow(40);
  EXPECT_TRUE(network.leaf_sets_exact());
  EXPECT_EQ(wrong_routes(network, 100, std::chrono::seconds(1)), 0U);
  network.run_for(std::chrono::minutes(1));
  EXPECT_FALSE(network.step()) << "something is still going on";
}

TEST(Pastry, ShortIdsAndOtherDigitsWorkAsWell) {
  for (const auto& [bits, b] :
       std::vector<std::pair<unsigned, unsigned>>{{16, 4}, {32, 2}, {24, 8}, {20, 1}, {15, 5}}) {
    Config config;
    config.id_bits = bits;
    config.b = b;
    config.leaf_set_size = 4;
    config.neighborhood_size = 8;
    TestNetwork network{config, bits};
    network.grow(40);
    network.run_for(std::chrono::seconds(5));
    EXPECT_TRUE(network.leaf_sets_exact());
    EXPECT_EQ(wrong_routes(network, 100, std::chrono::seconds(1)), 0U)
        << bits << " bits, b = " << b;
  }
}

}  // namespace
}  // namespace canopy::pastry::test
