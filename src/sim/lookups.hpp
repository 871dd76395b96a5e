// Lookups of random keys from random nodes: who delivers them, over how many
// hops, and how much longer than the direct way they take. Hops and delays are
// those of the messages on the simulated network.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.hpp"
#include "base/random.hpp"
#include "sim/ring_order.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

struct Lookup {
  NodeIndex origin = no_node;
  Id key;
};

Id random_key(unsigned id_bits, Random& random);

// Keys are used twice, from two nodes each.
std::vector<Lookup> random_lookups(std::size_t count, std::size_t nodes, unsigned id_bits,
                                   Random random);

struct LookupResults {
  std::uint64_t lookups = 0;
  std::uint64_t lost = 0;              // not delivered by the deadline
  std::uint64_t incorrect = 0;         // delivered by another node than the closest, or twice
  std::vector<std::uint64_t> by_hops;  // of those delivered
  Duration way{};                      // sums over those delivered: along the hops ..
  Duration direct{};                   // .. and from origin to deliverer

  std::vector<double> hops_share() const;
  double mean_hops() const;
  // Of the sums, so that origins next to the deliverer do not dominate.
  double delay_stretch() const;
};

// Sends them at a steady pace of so many a second and waits for them.
LookupResults run_lookups(Simulation& simulation, const RingOrder& ring,
                          const std::vector<Lookup>& lookups, std::uint64_t per_second);

}  // namespace canopy::sim
