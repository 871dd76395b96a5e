// Runs a scenario on the production protocol code and tells, step by step, what
// happened. Hops, JOINs, LEAVEs and copies are counted from the messages on the
// simulated network.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "sim/scenario.hpp"

namespace canopy::sim {

struct ScenarioOptions {
  std::uint64_t seed = 1;
  bool encode = false;
  std::ostream* trace = nullptr;
};

struct ScenarioResult {
  std::uint64_t trace_hash = 0;
  // What must hold whatever the scenario, and does not: a route that does not
  // end at the key's root, a cycle in a tree, a member that is not reached, ..
  std::vector<std::string> violations;
};

// Calls `print` with one line of JSON per step, as soon as it is done.
ScenarioResult run_scenario(const Scenario& scenario, const ScenarioOptions& options,
                            const std::function<void(const std::string&)>& print);

}  // namespace canopy::sim
