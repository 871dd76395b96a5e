#include "sim/fuzz_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace canopy::sim {
namespace {

constexpr std::uint64_t seeds = 200;

bool stops(const Act& act) {
  return act.kind == ActKind::crash || act.kind == ActKind::hang || act.kind == ActKind::depart;
}

TEST(FuzzPlan, HasEveryFaultBetweenCalmAndHealed) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const FuzzPlan plan(seed, seed % 2 == 0);
    EXPECT_GE(plan.nodes, 30U);
    std::set<ActKind> faults;
    for (const Act& act : plan.acts) {
      if (act.kind < first_fault) continue;
      EXPECT_GE(act.at, plan.calm);
      EXPECT_LT(act.at, plan.healed);
      const bool of_hard_ones = static_cast<std::size_t>(act.kind) >= act_kinds;
      if (!of_hard_ones) faults.insert(act.kind);
    }
    EXPECT_EQ(faults.size(), act_kinds - static_cast<std::size_t>(first_fault)) << seed;
  }
}

TEST(FuzzPlan, IsHardInHalfOfTheSchedules) {
  unsigned hard = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) hard += FuzzPlan(seed, true).hard ? 1 : 0;
  EXPECT_GT(hard, seeds * 2 / 5);
  EXPECT_LT(hard, seeds * 3 / 5);
}

TEST(FuzzPlan, StrikesFewerNeighboursAtOnceThanHalfALeafSet) {
  std::set<std::pair<ActKind, bool>> several;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const FuzzPlan plan(seed, seed % 2 == 0);
    for (const Act& act : plan.acts) {
      if (act.struck == 1) continue;
      EXPECT_TRUE(stops(act));
      several.emplace(act.kind, act.apart);
      const bool few = act.apart || act.struck < plan.overlay.pastry.leaf_set_size / 2;
      EXPECT_TRUE(few || (plan.hard && act.kind == ActKind::depart)) << seed;
    }
  }
  EXPECT_EQ(several.size(), 6U) << "crashes, hangs and departures, of neighbours and apart";
}

TEST(FuzzPlan, LeavesSomeSchedulesToStopsOfOneAtATime) {
  unsigned alone = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const FuzzPlan plan(seed, seed % 2 == 0);
    alone += std::all_of(plan.acts.begin(), plan.acts.end(),
                         [](const Act& act) { return act.struck == 1; });
  }
  EXPECT_GT(alone, seeds / 10);
  EXPECT_LT(alone, seeds / 2);
}

}  // namespace
}  // namespace canopy::sim
