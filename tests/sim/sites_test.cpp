// Whether joiners find the peers of their own site.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "sim/simulation.hpp"

namespace canopy::sim {
namespace {

using namespace std::chrono_literals;

// Sites around one hub, each farther from it than the one before: whoever looks
// in from outside finds the first ones nearest.
class Star final : public Topology {
 public:
  static constexpr std::size_t sites = 24;
  static constexpr std::size_t hosts_per_site = 25;

  Duration delay(HostIndex a, HostIndex b) const override {
    if (a == b) return 0us;
    return site(a) == site(b) ? 1ms : way_to_hub(a) + way_to_hub(b);
  }
  std::size_t hosts() const override { return sites * hosts_per_site; }
  std::size_t site(HostIndex host) const override { return host % sites; }

 private:
  Duration way_to_hub(HostIndex host) const { return 5ms + site(host) * 500us; }
};

TEST(Sites, are_found_by_joiners) {
  SimulationConfig config;
  config.overlay.pastry = pastry::Config::wan();
  const Star star;
  Simulation simulation(config, star);
  Random random(1);
  for (NodeIndex node = 0; node < star.hosts(); ++node) {
    const std::string name = fmt::format("node-{}", node);
    simulation.add_node(name, Id::hash_of(name));
    if (node == 0) {
      simulation.found(node);
    } else {
      simulation.join(node, {static_cast<NodeIndex>(random.below(node))});
    }
    simulation.run_for(5s);
  }
  std::vector<NodeIndex> astray;
  for (NodeIndex node = 0; node < star.hosts(); ++node) {
    ASSERT_TRUE(simulation.active(node));
    const auto near = simulation.peer(node).pastry().neighborhood_set().all();
    const NodeIndex nearest = simulation.node_of(near.front().peer);
    if (star.site(nearest) != star.site(node)) astray.push_back(node);
  }
  EXPECT_LE(astray.size(), star.hosts() / 100) << fmt::format("{}", fmt::join(astray, " "));
}

}  // namespace
}  // namespace canopy::sim
