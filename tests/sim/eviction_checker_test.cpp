#include "sim/eviction_checker.hpp"

#include <gtest/gtest.h>

#include "sim/plane.hpp"

namespace canopy::sim {
namespace {

class EvictionCheckerTest : public testing::Test {
 protected:
  EvictionCheckerTest() {
    for (int host = 0; host < 3; ++host) plane_.attach({});
    simulation_ = std::make_unique<Simulation>(SimulationConfig(), plane_);
    for (const char* name : {"a", "b", "c"}) simulation_->add_node(name, Id::hash_of(name, 160));
    checker_ = std::make_unique<EvictionChecker>(*simulation_);
  }

  // a probes b so often.
  void probe(unsigned times) {
    for (; times > 0; --times) checker_->sent(0, 1, wire::Probe{times});
  }
  // a tells c that it has given b up.
  Findings give_up() {
    return checker_->said(0, 2, wire::LeafProbe{1, false, true, {}, {simulation_->ref(1)}});
  }

  Plane plane_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<EvictionChecker> checker_;
};

TEST_F(EvictionCheckerTest, WhoLeftAllProbesUnansweredMayBeGivenUp) {
  probe(3);
  EXPECT_TRUE(give_up().empty());
}

TEST_F(EvictionCheckerTest, NobodyIsGivenUpUnprobed) {
  EXPECT_EQ(give_up().size(), 1U);
  EXPECT_TRUE(give_up().empty()) << "told twice";
}

TEST_F(EvictionCheckerTest, TheFirstProbesAreNotEnough) {
  probe(2);
  EXPECT_EQ(give_up().size(), 1U);
}

TEST_F(EvictionCheckerTest, NorAreProbesOfLongAgo) {
  probe(3);
  simulation_->run_for(std::chrono::minutes(1));
  EXPECT_EQ(give_up().size(), 1U);
}

TEST_F(EvictionCheckerTest, WhoSaidGoodbyeOrCameBackIsNotThere) {
  checker_->said(1, 0, wire::Departure{});
  EXPECT_TRUE(give_up().empty());
}

}  // namespace
}  // namespace canopy::sim
