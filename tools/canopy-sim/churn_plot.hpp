// A run of canopy-sim churn, drawn over time.
#pragma once

#include <string>

#include "sim/churn_experiment.hpp"

namespace canopy::tools {

// Live nodes, lost and wrong deliveries, and control traffic, one below the
// other, as the text of an SVG file.
std::string churn_plot(const sim::ChurnResults& results);

}  // namespace canopy::tools
