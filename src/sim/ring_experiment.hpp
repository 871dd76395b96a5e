// Grows a ring by the join protocol on a transit-stub internet, with the WAN
// profile, and measures it; and the same ring with ideal tables, to hold it
// against.
//
// Joins come at random (as a Poisson process) through a random active node, at
// a tenth of the active nodes a second until that reaches the join rate: so the
// ring grows exponentially at first and then steadily.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <vector>

#include "sim/checkers.hpp"
#include "sim/lookups.hpp"
#include "sim/progress.hpp"
#include "sim/simulation.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {

struct RingOptions {
  std::size_t nodes = 1'000;
  std::uint64_t seed = 1;
  double join_rate = 0;   // joins a second; 0: nodes / 300
  std::size_t zones = 0;  // labels of nodes, by neighbouring routers; 0: none have any
  scribe::Config scribe = scribe::Config::wan();
  bool encode = false;
  bool refusals = true;  // as in SimulationConfig
  std::ostream* trace = nullptr;
};

struct RingGrowth {
  std::size_t active = 0;               // nodes that became so
  std::vector<TrafficByType> messages;  // until the last one did
  double messages_per_join = 0;         // of these, all but heartbeats
};

// What routing tables make of labels.
struct ZoneFigures {
  std::uint64_t entries = 0;   // of all tables
  std::uint64_t possible = 0;  // of these, that somebody of the node's own zone could be
  std::uint64_t own = 0;       // of these, that are
};

class RingExperiment {
 public:
  RingExperiment(const RingOptions& options, Progress progress);

  RingGrowth grow();       // until all are active, or evidently will never be
  Findings check() const;  // of the leaf sets
  LookupResults look_up();
  ZoneFigures zones() const;
  // One more node, on a host of its own; in no ring yet.
  NodeIndex add_node();
  Simulation& simulation() { return *simulation_; }
  const Simulation& simulation() const { return *simulation_; }
  const TransitStub& internet() const { return internet_; }

  // The lookups of look_up() in the same ring with ideal tables, in place of the
  // one that was grown, which is gone afterwards.
  LookupResults look_up_ideally();

 private:
  SimulationConfig config(bool maintenance) const;
  std::vector<Lookup> lookups() const;
  std::size_t zone_of(NodeIndex node) const;
  void add_node(Simulation& simulation, NodeIndex node) const;

  RingOptions options_;
  Progress progress_;
  Random random_;
  TransitStub internet_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace canopy::sim
