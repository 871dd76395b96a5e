// A chart of a few curves, as the text of an SVG file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace canopy::tools {

// Labels, titles and names go into the text as they are: no markup in them.
struct ChartAxis {
  enum class Scale : std::uint8_t { linear, logarithmic };

  std::string label;
  double from = 0;  // above zero on a logarithmic axis
  double to = 1;    // above `from`
  Scale scale = Scale::linear;
};

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct ChartCurve {
  std::string name;
  std::vector<ChartPoint> points;  // from left to right, within the axes
};

// At most three curves, told apart by colour and dashes.
std::string svg_chart(const std::string& title, const ChartAxis& x, const ChartAxis& y,
                      const std::vector<ChartCurve>& curves);

// Several charts in one file, each below the one before.
std::string svg_below_each_other(const std::vector<std::string>& charts);

}  // namespace canopy::tools
