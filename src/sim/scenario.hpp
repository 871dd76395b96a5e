// A scenario: a network and what to do with it, step by step, read from JSON.
// The format is described beside the scenarios (tests/data/scenarios/README.md).
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "sim/network.hpp"
#include "sim/plane.hpp"

namespace canopy::sim {

// The file is not a scenario. what() names the field, and the step.
class ScenarioError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Scenario {
  enum class Tables { ideal, protocol };
  enum class Op { create, route, join, publish, leave, fail, tree };

  struct Node {
    std::string name;
    Id id;
    Point point;
  };
  struct Step {
    Op op = Op::tree;
    NodeIndex node = no_node;  // of create: the creator
    std::string group;
    Id key;  // of route
  };

  unsigned id_bits = 0;
  unsigned b = 0;
  unsigned leaf_set_size = 0;
  unsigned neighborhood_size = 0;
  Tables tables = Tables::ideal;
  std::vector<Node> nodes;
  std::vector<Step> steps;
};

std::string_view name_of(Scenario::Op op);

// Throws ScenarioError. What comes back can be run: nodes exist and live when
// a step names them, groups are created first.
Scenario parse_scenario(std::string_view json);

}  // namespace canopy::sim
