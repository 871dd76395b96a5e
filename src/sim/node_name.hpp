// What the nodes of an experiment are called: their ids follow from it.
#pragma once

#include <string>

#include <fmt/format.h>

#include "sim/network.hpp"

namespace canopy::sim {

inline std::string node_name(NodeIndex node) { return fmt::format("node-{:06}", node); }

}  // namespace canopy::sim
