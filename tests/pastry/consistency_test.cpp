// Whatever befalls who is between them, no two nodes act for one key at once.
#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "pastry/test_network.hpp"

namespace canopy::pastry::test {
namespace {

using namespace std::chrono_literals;

// Two that have one between them have given each other up, and can reach each other again.
class PastryApartTest : public ::testing::Test {
 protected:
  explicit PastryApartTest(std::size_t nodes = 20) {
    network.grow(nodes);
    network.run_for(2s);
    ring = network.ring();
    // The next beyond the other is farther from it than the one.
    while (ring.size() > 3 && (at < 3 || !closer_to(id(at - 2), id(at), id(at - 3)))) ++at;
    network.censor = [this](PeerRef from, PeerRef to, const wire::Message& message) {
      const bool relayed = std::holds_alternative<wire::Relay>(message);
      const std::set<PeerRef> pair{one().self(), other().self()};
      return relayed || (pair.contains(from) && pair.contains(to));
    };
    one().suspect(other().self());
    other().suspect(one().self());
    EXPECT_TRUE(network.run_until([this] { return apart(); }, 10s));
    network.run_for(2s);
    EXPECT_TRUE(apart());
    network.censor = nullptr;
  }

  Id id(std::size_t index) { return network.peers().id(ring[index]->pastry->self()); }
  Pastry& one() { return *ring[at]->pastry; }
  Pastry& other() { return *ring[at - 2]->pastry; }
  TestNode& between() { return *ring[at - 1]; }
  bool apart() {
    return !one().leaf_set().contains(other().self()) && !other().leaf_set().contains(one().self());
  }
  void expect_that_they_meet_and_never_both_act() {
    const auto acts = [this](Pastry& node) {
      return node.is_root(id(at - 2)) && node.may_act(id(at - 2));
    };
    const MonoTime end = network.now() + 20s;
    while (network.now() < end && network.step()) ASSERT_FALSE(acts(one()) && acts(other()));
    EXPECT_FALSE(apart());
  }

  TestNetwork network{Config{}, 10};
  std::vector<TestNode*> ring;
  std::size_t at = 2;
};

// Each has only the third, on both sides.
class PastryApartInARingOfThreeTest : public PastryApartTest {
 protected:
  PastryApartInARingOfThreeTest() : PastryApartTest(3) {}
};

TEST_F(PastryApartTest, MeetBeforeOneTakesTheOthersPlaceIfWhoIsBetweenThemHangs) {
  network.hang(between());
  expect_that_they_meet_and_never_both_act();
}

TEST_F(PastryApartTest, SoTheyDoIfThatOneDeparts) {
  between().pastry->depart();
  expect_that_they_meet_and_never_both_act();
}

TEST_F(PastryApartTest, AndIfItStartsAnew) {
  const std::string name = network.peers()[between().pastry->self()].name;
  network.crash(between());
  network.add(name, 2).pastry->join({ring[0]->pastry->self()});
  expect_that_they_meet_and_never_both_act();
}

TEST_F(PastryApartInARingOfThreeTest, MeetBeforeOneTakesTheOthersPlaceIfTheThirdHangs) {
  network.hang(between());
  expect_that_they_meet_and_never_both_act();
}

TEST_F(PastryApartInARingOfThreeTest, SoTheyDoIfTheThirdDeparts) {
  between().pastry->depart();
  expect_that_they_meet_and_never_both_act();
}

// So whoever acts for those in the middle meanwhile is no neighbour of theirs.
TEST(PastryConsistency, SeveralNeighboursThatHangAtOnceDoNotActBesideWhoTookTheirPlace) {
  TestNetwork network{Config{}, 6};
  network.grow(30);
  network.run_for(2s);
  const std::vector<TestNode*> ring = network.ring();
  const std::vector<TestNode*> sleepers(ring.begin() + 7, ring.begin() + 11);
  for (TestNode* node : sleepers) {
    node->x = node->y = 0;  // they hear from each other before others do from them
    network.hang(*node);
  }
  network.run_for(20s);
  for (TestNode* node : sleepers) network.resume(*node);
  const auto acting_for = [&](const Id& key) {
    return std::ranges::count_if(ring, [&](TestNode* node) {
      return node->pastry->is_root(key) && node->pastry->may_act(key);
    });
  };
  const MonoTime end = network.now() + 10s;
  while (network.now() < end && network.step()) {
    for (TestNode* node : sleepers) {
      ASSERT_LE(acting_for(network.peers().id(node->pastry->self())), 1);
    }
  }
  EXPECT_TRUE(network.leaf_sets_exact());
}

// A sleep shorter than a missed heartbeat: only that its leases ran out tells the node to ask all.
TEST(PastryConsistency, WhoseLeasesRanOutInAShortSleepActsAgainAsSoonAsAllLeavesAnswer) {
  const Config config;
  TestNetwork network{config, 3};
  network.grow(20);
  network.run_for(2s);
  TestNode& sleeper = *network.ring()[5];
  const Id key = network.peers().id(sleeper.pastry->self());
  unsigned lapsed = 0;
  for (int phase = 0; phase < 20; ++phase) {
    network.run_for(config.heartbeat_interval * 3 + config.heartbeat_interval / 20);
    network.hang(sleeper);
    network.run_for(config.heartbeat_interval + config.probe_timeout - 50ms);
    network.resume(sleeper);
    if (sleeper.pastry->may_act(key)) continue;
    ++lapsed;
    EXPECT_TRUE(
        network.run_until([&] { return sleeper.pastry->may_act(key); }, config.probe_timeout));
  }
  EXPECT_GT(lapsed, 0U);
}

}  // namespace
}  // namespace canopy::pastry::test
