#include "sim/live_ring.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace canopy::sim {
namespace {

Id at(const char* id) { return *Id::from_hex(id); }

TEST(LiveRing, KnowsTheClosestAsNodesComeAndGo) {
  LiveRing ring;
  ring.add(at("8000"), 0);
  EXPECT_EQ(ring.closest(at("0000")), 0U);
  ring.add(at("1000"), 1);
  ring.add(at("f000"), 2);
  ring.add(at("3000"), 3);
  EXPECT_EQ(ring.closest(at("7fff")), 0U);
  EXPECT_EQ(ring.closest(at("2000")), 1U) << "of two as close, the smaller id";
  EXPECT_EQ(ring.closest(at("ffff")), 2U);
  EXPECT_EQ(ring.closest(at("0000")), 1U) << "across zero";
  ring.remove(at("1000"));
  ring.remove(at("1000"));
  EXPECT_EQ(ring.size(), 3U);
  EXPECT_EQ(ring.closest(at("2000")), 3U);
  EXPECT_EQ(ring.closest(at("0000")), 2U);
}

TEST(LiveRing, ListsThoseAroundAnIdWhetherItIsThereOrNot) {
  LiveRing ring;
  for (const char* id : {"0000", "2000", "4000", "6000", "8000"}) {
    ring.add(at(id), static_cast<NodeIndex>(ring.size()));
  }
  std::vector<NodeIndex> around = ring.around(at("7000"), 1);
  std::ranges::sort(around);
  EXPECT_EQ(around, (std::vector<NodeIndex>{3, 4}));
  around = ring.around(at("9000"), 2);
  std::ranges::sort(around);
  EXPECT_EQ(around, (std::vector<NodeIndex>{0, 1, 3, 4}));
  EXPECT_EQ(ring.around(at("0000"), 3).size(), 5U) << "each once";
}

}  // namespace
}  // namespace canopy::sim
