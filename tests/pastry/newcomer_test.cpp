#include "pastry/newcomer.hpp"

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"

namespace canopy::pastry::test {
namespace {

using wire::StatePart;
using wire::StateRequest;

constexpr std::uint32_t contact_us = 1000;

class NewcomerTest : public ::testing::Test, protected Part {
 protected:
  NewcomerTest() : Part(Config::wan()) {}

  void meet(PeerRef peer, std::uint32_t distance_us) {
    state.measured(peer, Duration(distance_us));
    state.offer_measured(peer);
  }
  // The probe that is out is answered.
  void measured(PeerRef peer, std::uint32_t distance_us) {
    measurer.advance();
    std::uint32_t nonce = 0;
    for (const auto& [to, probe] : env.all<wire::Probe>()) {
      if (to == peer) nonce = probe.nonce;
    }
    EXPECT_NE(prober.answered(peer, nonce, false).goals, 0);
    meet(peer, distance_us);
  }
  bool reply(wire::Peers peers) {
    const auto request = env.last<StateRequest>();
    return newcomer.on_state_reply({request.nonce, request.part, request.row, 0, std::move(peers)});
  }
  // All questions are answered, by nobody's name.
  void answer_all() {
    while (newcomer.deadline() != never) ASSERT_TRUE(reply({}));
  }
  // Those asked for a part, in the order of asking.
  std::vector<PeerRef> asked(StatePart part) const {
    std::vector<PeerRef> peers;
    for (const auto& [to, request] : env.all<StateRequest>()) {
      if (request.part == part) peers.push_back(to);
    }
    return peers;
  }

  Prober prober{state};
  Measurer measurer{state, prober};
  Newcomer newcomer{state, prober, measurer, contact_us};
};

TEST_F(NewcomerTest, MeasuresWhomTheJoinNamedBeforeItAsksAnybody) {
  measurer.add(env.peer("8100"));
  EXPECT_FALSE(newcomer.advance());
  measurer.advance();
  EXPECT_FALSE(newcomer.advance());
  EXPECT_TRUE(env.all<StateRequest>().empty());
  measured(env.peer("8100"), 2000);
  EXPECT_FALSE(newcomer.advance());
  EXPECT_EQ(env.last_receiver<StateRequest>(), env.peer("8100"));
}

TEST_F(NewcomerTest, AsksTheTwoClosestOfEachRowButTheFirstForThatRow) {
  entry("20", 1100);
  entry("8100", 1900);
  entry("8200", 1500);
  entry("8300", 1700);
  entry("8010", 3000);
  EXPECT_FALSE(newcomer.advance());
  const auto requests = env.all<StateRequest>();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].first, env.peer("8200"));
  EXPECT_EQ(requests[0].second.part, StatePart::row);
  EXPECT_EQ(requests[0].second.row, 1);
  EXPECT_EQ(requests[1].first, env.peer("8300"));
  EXPECT_EQ(requests[1].second.row, 1);
  EXPECT_EQ(requests[2].first, env.peer("8010"));
  EXPECT_EQ(requests[2].second.row, 2);
}

TEST_F(NewcomerTest, IsDoneWhenAllHaveAnsweredAndWhomTheyNamedIsMeasured) {
  entry("8100", 2000);
  EXPECT_FALSE(newcomer.advance());
  EXPECT_TRUE(reply({env.peer("8200")}));
  EXPECT_FALSE(newcomer.advance());
  measured(env.peer("8200"), 1500);
  EXPECT_FALSE(newcomer.advance()) << "it is the nearest: what are its neighbours?";
  EXPECT_TRUE(reply({}));
  EXPECT_TRUE(newcomer.advance());
  EXPECT_EQ(newcomer.deadline(), never);
}

// They did not know how far this node is when they were asked in the search for a contact.
TEST_F(NewcomerTest, AsksTheThreeNearestForTheirNeighboursEvenIfNoneIsNearerThanTheContact) {
  meet(env.peer("10"), contact_us);
  meet(env.peer("20"), contact_us + 3);
  meet(env.peer("30"), contact_us + 1);
  meet(env.peer("40"), contact_us + 2);
  EXPECT_FALSE(newcomer.advance());
  EXPECT_EQ(asked(StatePart::neighborhood),
            (std::vector{env.peer("10"), env.peer("30"), env.peer("40")}));
  EXPECT_TRUE(asked(StatePart::row).empty());
  answer_all();
  EXPECT_TRUE(newcomer.advance()) << "nobody is asked twice";
}

TEST_F(NewcomerTest, AsksOneThatIsNearerThanTheContactForItsFirstRowAsWell) {
  meet(env.peer("30"), contact_us - 1);
  meet(env.peer("40"), contact_us - 1);
  EXPECT_FALSE(newcomer.advance());
  EXPECT_EQ(asked(StatePart::row), std::vector{env.peer("30")});
  EXPECT_EQ(env.all<StateRequest>()[1].second.row, 0);
}

TEST_F(NewcomerTest, AsksWhoTurnsOutToBeAmongTheNearest) {
  meet(env.peer("10"), contact_us);
  EXPECT_FALSE(newcomer.advance());
  EXPECT_TRUE(reply({env.peer("30")}));
  EXPECT_FALSE(newcomer.advance());
  measured(env.peer("30"), contact_us / 2);
  EXPECT_FALSE(newcomer.advance());
  EXPECT_EQ(asked(StatePart::neighborhood).back(), env.peer("30"));
}

TEST_F(NewcomerTest, LetsWellAloneWhenTheContactWasNearEnough) {
  config.near_enough = Duration(contact_us);
  meet(env.peer("30"), 1);
  EXPECT_TRUE(newcomer.advance());
}

TEST_F(NewcomerTest, GoesOnFromEachNearerOneButNotForEver) {
  for (std::uint32_t found = 0; found < 20; ++found) {
    meet(env.peer(std::to_string(10 + found)), 900 - 10 * found);
    if (newcomer.advance()) break;
    answer_all();
    EXPECT_FALSE(reply({})) << "an answer too many";
  }
  EXPECT_EQ(asked(StatePart::neighborhood).size(), 8U);
  EXPECT_TRUE(newcomer.advance());
}

TEST_F(NewcomerTest, KeepsTheHandlesOfThoseItAsked) {
  meet(env.peer("10"), contact_us);
  EXPECT_FALSE(newcomer.advance());
  std::vector<PeerRef> in_use;
  newcomer.collect_peers(in_use);
  EXPECT_EQ(in_use, std::vector{env.peer("10")});
}

TEST_F(NewcomerTest, WaitsForTheSilentNoLongerThanForAProbe) {
  entry("8100", 2000);
  EXPECT_FALSE(newcomer.advance());
  EXPECT_EQ(newcomer.deadline(), env.time + config.probe_timeout);
  env.time = newcomer.deadline();
  EXPECT_TRUE(newcomer.advance());
  EXPECT_FALSE(reply({})) << "too late";
}

TEST_F(NewcomerTest, IsNotOverdueWhileItMeasures) {
  entry("8100", 2000);
  entry("8010", 2000);
  EXPECT_FALSE(newcomer.advance());
  EXPECT_TRUE(reply({env.peer("8200")}));
  measurer.advance();
  env.time = newcomer.deadline();
  EXPECT_FALSE(newcomer.advance());
  EXPECT_EQ(newcomer.deadline(), never);
}

}  // namespace
}  // namespace canopy::pastry::test
