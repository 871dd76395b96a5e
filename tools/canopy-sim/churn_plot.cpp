#include "canopy-sim/churn_plot.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "canopy-sim/svg_chart.hpp"

namespace canopy::tools {

namespace {

struct Series {
  std::string name;
  std::function<double(const sim::ChurnSample&)> value;
};

std::string chart(const sim::ChurnResults& results, const std::string& title, std::string y,
                  const std::vector<Series>& series) {
  std::vector<ChartCurve> curves;
  double most = 0;
  for (const Series& one : series) {
    ChartCurve curve{one.name, {}};
    for (const sim::ChurnSample& sample : results.samples) {
      curve.points.push_back({sample.hours, one.value(sample)});
      most = std::max(most, curve.points.back().y);
    }
    curves.push_back(std::move(curve));
  }
  const double hours = results.samples.empty() ? 1 : results.samples.back().hours;
  return svg_chart(title, {"hours", 0, hours}, {std::move(y), 0, most > 0 ? 1.1 * most : 1},
                   curves);
}

double as_double(std::uint64_t number) { return static_cast<double>(number); }

}  // namespace

std::string churn_plot(const sim::ChurnResults& results) {
  return svg_below_each_other(
      {chart(results, "Live nodes", "active nodes",
             {{"active", [](const sim::ChurnSample& s) { return as_double(s.live); }}}),
       chart(results, "Lookups that went wrong", "lookups since the point before",
             {{"lost", [](const sim::ChurnSample& s) { return as_double(s.lost); }},
              {"delivered wrongly",
               [](const sim::ChurnSample& s) { return as_double(s.incorrect); }}}),
       chart(results, "Control traffic", "messages a second and node",
             {{"all but lookups",
               [](const sim::ChurnSample& s) { return s.control_per_node_per_second; }}})});
}

}  // namespace canopy::tools
