// The distributions behind the figures of canopy-sim scribe, drawn as in Scribe's
// paper: delay penalty, node stress and link stress.
#pragma once

#include <string>
#include <vector>

#include "sim/scribe_figures.hpp"

namespace canopy::tools {

struct ScribePlot {
  std::string file;
  std::string svg;
};

std::vector<ScribePlot> scribe_plots(const sim::ScribeFigures& figures);

}  // namespace canopy::tools
