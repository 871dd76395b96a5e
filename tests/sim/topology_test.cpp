#include <gtest/gtest.h>

#include "sim/plane.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {
namespace {

TEST(Plane, delays_by_the_euclidean_distance) {
  Plane plane;
  const HostIndex a = plane.attach({0, 0});
  const HostIndex b = plane.attach({300, 400});
  EXPECT_EQ(plane.delay(a, b), Duration(50'000));
  EXPECT_EQ(plane.delay(b, a), Duration(50'000));
  EXPECT_EQ(plane.delay(a, a), Duration(0));
}

class TransitStubs : public ::testing::Test {
 protected:
  TransitStub internet_{Random(7)};
};

TEST_F(TransitStubs, have_the_mean_core_delay_of_the_evaluation) {
  std::int64_t sum = 0;
  for (std::size_t a = 0; a < TransitStub::stub_routers; ++a) {
    for (std::size_t b = 0; b < TransitStub::stub_routers; ++b)
      sum += internet_.core_delay_us(a, b);
  }
  const auto pairs =
      static_cast<std::int64_t>(TransitStub::stub_routers * TransitStub::stub_routers);
  EXPECT_NEAR(static_cast<double>(sum / pairs), 40'700, 50);
}

TEST_F(TransitStubs, are_symmetric_and_within_a_stub_short) {
  Random random(1);
  std::int64_t within = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t a = random.below(TransitStub::stub_routers);
    const std::size_t b = random.below(TransitStub::stub_routers);
    EXPECT_EQ(internet_.core_delay_us(a, b), internet_.core_delay_us(b, a));
    EXPECT_EQ(internet_.core_delay_us(a, a), 0);
    within += internet_.core_delay_us(a, a / 10 * 10 + b % 10);
  }
  EXPECT_LT(within / 10'000, 5'000);
}

TEST_F(TransitStubs, put_hosts_behind_lan_links) {
  Random random(3);
  const HostIndex a = internet_.attach(random);
  const HostIndex b = internet_.attach(random);
  EXPECT_EQ(internet_.delay(a, a), Duration(0));
  EXPECT_EQ(internet_.delay(a, b),
            Duration(2'000 + internet_.core_delay_us(internet_.router(a), internet_.router(b))));
}

TEST_F(TransitStubs, walk_links_back_along_a_tree_of_shortest_ways) {
  Random random(5);
  for (int i = 0; i < 300; ++i) internet_.attach(random);
  std::vector<LinkIndex> next_up(internet_.links());  // from each link towards host 0
  for (HostIndex host = 1; host < internet_.hosts(); ++host) {
    std::vector<LinkIndex> way;
    internet_.walk_back(0, host, [&](LinkIndex link) {
      EXPECT_LT(link, internet_.links());
      way.push_back(link);
      return true;
    });
    ASSERT_GE(way.size(), 2U);
    EXPECT_EQ(way.front(), TransitStub::router_links + host);
    EXPECT_EQ(way.back(), TransitStub::router_links);
    for (std::size_t at = 0; at + 1 < way.size(); ++at) {
      if (next_up[way[at]] != 0) {
        EXPECT_EQ(next_up[way[at]], way[at + 1]);
      }
      next_up[way[at]] = way[at + 1];
    }
    std::size_t visited = 0;
    internet_.walk_back(0, host, [&](LinkIndex) { return ++visited < 2; });
    EXPECT_EQ(visited, 2U);
  }
}

TEST_F(TransitStubs, are_the_same_for_the_same_seed_only) {
  const TransitStub same{Random(7)};
  const TransitStub other{Random(8)};
  std::size_t differences = 0;
  for (std::size_t a = 0; a < TransitStub::stub_routers; a += 97) {
    EXPECT_EQ(internet_.core_delay_us(0, a), same.core_delay_us(0, a));
    differences += internet_.core_delay_us(0, a) != other.core_delay_us(0, a) ? 1 : 0;
  }
  EXPECT_GT(differences, 40U);
}

TEST(PathTable, finds_shortest_paths_and_their_parents) {
  PathTable paths(4);
  paths.link(0, 1, 10);
  paths.link(1, 2, 10);
  paths.link(0, 2, 50);
  paths.link(2, 3, 5);
  paths.solve();
  EXPECT_EQ(paths.delay_us(0, 3), 25);
  EXPECT_EQ(paths.parent(0, 3), 2U);
  EXPECT_EQ(paths.parent(0, 2), 1U);
  EXPECT_EQ(paths.parent(0, 1), 0U);
}

}  // namespace
}  // namespace canopy::sim
