#include "canopy-sim/scribe_plots.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "canopy-sim/svg_chart.hpp"

namespace canopy::tools {

namespace {

// How many of the values, in percent, are no larger than x.
ChartCurve cumulative(std::string name, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  ChartCurve curve{std::move(name), {}};
  if (!values.empty()) curve.points.push_back({values.front(), 0});
  for (std::size_t i = 0; i < values.size(); ++i) {
    curve.points.push_back(
        {values[i], 100 * static_cast<double>(i + 1) / static_cast<double>(values.size())});
  }
  return curve;
}

// How many of the values are at least x, for x > 0.
ChartCurve at_least(std::string name, std::vector<std::uint32_t> values) {
  std::sort(values.begin(), values.end(), std::greater<>());
  ChartCurve curve{std::move(name), {}};
  for (std::size_t i = 0; i < values.size() && values[i] > 0; ++i) {
    if (i + 1 < values.size() && values[i + 1] == values[i]) continue;
    curve.points.push_back({static_cast<double>(values[i]), static_cast<double>(i + 1)});
  }
  std::reverse(curve.points.begin(), curve.points.end());
  return curve;
}

// From one to the power of ten that none of the points is above.
ChartAxis power_axis(std::string label, const std::vector<ChartCurve>& curves,
                     double ChartPoint::*coordinate) {
  double most = 10;
  for (const ChartCurve& curve : curves) {
    for (const ChartPoint& point : curve.points) most = std::max(most, point.*coordinate);
  }
  return {std::move(label), 1, std::pow(10, std::ceil(std::log10(most))),
          ChartAxis::Scale::logarithmic};
}

std::string stress_chart(const std::string& title, std::string x, std::string y,
                         const std::vector<ChartCurve>& curves) {
  return svg_chart(title, power_axis(std::move(x), curves, &ChartPoint::x),
                   power_axis(std::move(y), curves, &ChartPoint::y), curves);
}

std::string delay_chart(const sim::ScribeFigures& figures) {
  const double most = std::max(sim::summary(figures.rad).most, sim::summary(figures.rmd).most);
  return svg_chart("Delay penalty of Scribe over IP multicast",
                   {"delay over that of IP multicast", 0, std::max(2.0, std::ceil(most))},
                   {"groups with at most that, in percent", 0, 100},
                   {cumulative("average delay (RAD)", figures.rad),
                    cumulative("maximum delay (RMD)", figures.rmd)});
}

}  // namespace

std::vector<ScribePlot> scribe_plots(const sim::ScribeFigures& figures) {
  return {
      {"delay-penalty.svg", delay_chart(figures)},
      {"node-stress.svg", stress_chart("Node stress", "children tables, or children in all of them",
                                       "nodes with at least so many",
                                       {at_least("children tables", figures.tables),
                                        at_least("children", figures.entries)})},
      {"link-stress.svg", stress_chart("Link stress of one message to each group",
                                       "messages on the link", "links with at least so many",
                                       {at_least("Scribe", figures.scribe.loads()),
                                        at_least("IP multicast", figures.ip.loads()),
                                        at_least("unicast", figures.unicast.loads())})}};
}

}  // namespace canopy::tools
