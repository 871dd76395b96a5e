#include "node/seeds.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "node/founding.hpp"

namespace canopy::node {
namespace {

using namespace std::chrono_literals;
using Addresses = std::vector<std::string>;

const MonoTime start(1h);

class SeedsTest : public testing::Test {
 protected:
  static Seeds make(const Addresses& addresses, std::size_t dials_max = 8) {
    Seeds::Config config;
    config.dials_max = dials_max;
    return Seeds(addresses, config, Random(1));
  }
};

TEST_F(SeedsTest, AllAreDialledAtOnce) {
  Seeds seeds = make({"a:1", "b:1", "c:1"});
  EXPECT_EQ(seeds.due(start), (Addresses{"a:1", "b:1", "c:1"}));
  EXPECT_TRUE(seeds.due(start).empty());
  EXPECT_EQ(seeds.next(), never);
}

TEST_F(SeedsTest, ButOnlySoManyAtATime) {
  Seeds seeds = make({"a:1", "b:1", "c:1"}, 2);
  EXPECT_EQ(seeds.due(start), (Addresses{"a:1", "b:1"}));
  seeds.failed("a:1", start);
  EXPECT_EQ(seeds.due(start), (Addresses{"c:1"}));
}

TEST_F(SeedsTest, GivenTwiceIsOne) {
  Seeds seeds = make({"a:1", "a:1"});
  EXPECT_EQ(seeds.due(start).size(), 1U);
}

TEST_F(SeedsTest, PausesGrowUpToABoundAndAreJittered) {
  Seeds seeds = make({"a:1"});
  MonoTime now = start;
  Duration last{};
  Duration previous{};
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(seeds.due(now).size(), 1U);
    previous = last;
    last = seeds.failed("a:1", now);
    EXPECT_TRUE(seeds.due(now + last - 1us).empty());
    now += last;
    EXPECT_EQ(seeds.next(), now);
  }
  EXPECT_GE(last, 7500ms);
  EXPECT_LE(last, 12'500ms);
  EXPECT_NE(last, previous);
}

TEST_F(SeedsTest, AConnectedSeedIsNotDialledUntilItIsLost) {
  Seeds seeds = make({"a:1"});
  seeds.due(start);
  seeds.connected("a:1");
  EXPECT_TRUE(seeds.due(start + 1h).empty());
  seeds.failed("a:1", start + 1h);
  EXPECT_EQ(seeds.due(start + 2h).size(), 1U);
}

TEST_F(SeedsTest, ASeedThatIsTheNodeItselfIsNotDialledAgain) {
  Seeds seeds = make({"a:1", "b:1"});
  seeds.due(start);
  seeds.is_self("a:1");
  EXPECT_FALSE(seeds.only_self());
  seeds.is_self("b:1");
  EXPECT_TRUE(seeds.only_self());
  EXPECT_TRUE(seeds.due(start + 1h).empty());
}

TEST_F(SeedsTest, KnowsWhetherEachWasTried) {
  Seeds seeds = make({"a:1", "b:1"}, 1);
  seeds.due(start);
  seeds.failed("a:1", start);
  EXPECT_FALSE(seeds.all_tried());
  seeds.due(start);
  seeds.failed("b:1", start);
  EXPECT_TRUE(seeds.all_tried());
}

struct Case {
  FoundingFacts facts;
  FoundingStep first;
  FoundingStep without_seeds;
};

TEST(FoundingTest, NeverGivesBirthToASecondCluster) {
  using S = FoundingStep;
  const Case cases[] = {
      {{.has_seeds = false, .may_found = false, .is_member = false}, S::found, S::ask_seeds},
      {{.has_seeds = false, .may_found = true, .is_member = false}, S::found, S::found},
      {{.has_seeds = false, .may_found = false, .is_member = true}, S::resume, S::resume},
      {{.has_seeds = false, .may_found = true, .is_member = true}, S::resume, S::resume},
      {{.has_seeds = true, .may_found = false, .is_member = false}, S::ask_seeds, S::ask_seeds},
      {{.has_seeds = true, .may_found = true, .is_member = false}, S::ask_seeds, S::found},
      {{.has_seeds = true, .may_found = false, .is_member = true}, S::ask_seeds, S::resume},
      {{.has_seeds = true, .may_found = true, .is_member = true}, S::ask_seeds, S::resume},
  };
  EXPECT_EQ(first_step({.is_member = true, .knows_peers = true}), S::ask_seeds);
  EXPECT_EQ(step_without_seeds({.is_member = true, .knows_peers = true}), S::resume);
  EXPECT_EQ(first_step({.is_member = false, .knows_peers = true}), S::found);
  for (const Case& test : cases) {
    SCOPED_TRACE(testing::Message()
                 << test.facts.has_seeds << test.facts.may_found << test.facts.is_member);
    EXPECT_EQ(first_step(test.facts), test.first);
    EXPECT_EQ(step_without_seeds(test.facts), test.without_seeds);
  }
}

TEST_F(SeedsTest, AllRefuseWhenEachLastAnswerWasARefusal) {
  Seeds seeds = make({"a", "b", "self"});
  seeds.due(start);
  EXPECT_FALSE(seeds.all_refuse());
  seeds.is_self("self");
  seeds.refused("a", start);
  EXPECT_FALSE(seeds.all_refuse());
  seeds.refused("b", start);
  EXPECT_TRUE(seeds.all_refuse());
  seeds.failed("a", start);
  EXPECT_FALSE(seeds.all_refuse());
  seeds.refused("a", start);
  seeds.connected("b");
  EXPECT_FALSE(seeds.all_refuse());
}

// Whoever is at its address now.
TEST_F(SeedsTest, APeerOfAnEarlierLifeIsNoReasonToGiveUp) {
  Seeds seeds = make({});
  seeds.remember({"known"});
  EXPECT_TRUE(seeds.is_remembered("known"));
  EXPECT_EQ(seeds.due(start), Addresses{"known"});
  seeds.refused("known", start);
  EXPECT_FALSE(seeds.all_refuse());
}

// It was of this ring: a seed may lead to another.
TEST_F(SeedsTest, APeerOfAnEarlierLifeIsTriedAgainOnlyWhereThereIsNoSeed) {
  Seeds seeds = make({"a"});
  seeds.remember({"known", "another"});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(seeds.one_again(), "a");
    seeds.connected("a");
  }
  seeds.is_self("a");
  EXPECT_TRUE(seeds.is_remembered(seeds.one_again().value()));
}

TEST_F(SeedsTest, APeerOfAnEarlierLifeIsWaitedForBeforeGivingUp) {
  Seeds seeds = make({"a"});
  seeds.remember({"known", "a"});
  EXPECT_FALSE(seeds.is_remembered("a"));
  EXPECT_EQ(seeds.due(start), (Addresses{"a", "known"}));
  seeds.refused("a", start);
  EXPECT_FALSE(seeds.all_refuse());
  seeds.connected("known");
  EXPECT_FALSE(seeds.all_refuse());
  seeds.failed("known", start);
  EXPECT_TRUE(seeds.all_refuse());
}

}  // namespace
}  // namespace canopy::node
