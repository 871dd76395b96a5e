#include "sim/steady_lookups.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "sim/plane.hpp"

namespace canopy::sim {
namespace {

using namespace std::chrono_literals;

// Two nodes in a ring. Who is closest to a key is what the test says.
class SteadyLookupsTest : public testing::Test {
 protected:
  SteadyLookupsTest() {
    for (int host = 0; host < 2; ++host) plane_.attach({});
    simulation_ = std::make_unique<Simulation>(SimulationConfig(), plane_);
    for (const char* name : {"a", "b"}) simulation_->add_node(name, Id::hash_of(name, 160));
    simulation_->found(0);
    simulation_->join(1, {0});
    simulation_->run_for(10s);
    lookups_ = std::make_unique<SteadyLookups>(
        *simulation_, 1, [this](const Id& key, NodeIndex) { return closest(key); });
    simulation_->observe(*lookups_);
  }

  NodeIndex closest(const Id& key) const {
    if (forced_ != no_node) return forced_;
    return closer_to(key, simulation_->id(0), simulation_->id(1)) ? 0 : 1;
  }
  void look_up(int times) {
    for (; times > 0; --times) lookups_->look_up(0);
    simulation_->run_for(5s);
  }

  Plane plane_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<SteadyLookups> lookups_;
  NodeIndex forced_ = no_node;
};

TEST_F(SteadyLookupsTest, ThoseThatTheClosestAnswersAreWell) {
  look_up(20);
  const auto outcome = lookups_->judge();
  EXPECT_GT(outcome.lookups, 0U);
  EXPECT_LT(outcome.lookups, 20U) << "of its own keys the asker asks nobody";
  EXPECT_EQ(outcome.lost, 0U);
  EXPECT_EQ(outcome.incorrect, 0U);
  EXPECT_LT(outcome.slowest, 1s);
}

TEST_F(SteadyLookupsTest, WhoIsNotTheClosestAnswersIncorrectly) {
  forced_ = 7;
  const MonoTime asked = simulation_->now();
  look_up(20);
  const auto outcome = lookups_->judge();
  EXPECT_GT(outcome.incorrect, 0U);
  EXPECT_EQ(outcome.last_bad, asked);
}

TEST_F(SteadyLookupsTest, WhatNobodyAnswersIsLostUnlessTheAskerHasStoppedOrBecomeTheClosest) {
  forced_ = 1;
  simulation_->hang(1);
  look_up(20);
  EXPECT_GT(lookups_->judge().lost, 0U);
  EXPECT_GT(lookups_->judge().last_bad, MonoTime{});
  forced_ = 0;
  EXPECT_EQ(lookups_->judge().lost, 0U) << "it took over";
  forced_ = 1;
  simulation_->crash(0);
  EXPECT_EQ(lookups_->judge().lost, 0U);
}

}  // namespace
}  // namespace canopy::sim
