#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/json_line.hpp"
#include "canopy-sim/churn_plot.hpp"
#include "canopy-sim/commands.hpp"
#include "canopy-sim/trace_file.hpp"
#include "common/progress_bar.hpp"
#include "sim/churn_experiment.hpp"

namespace canopy::tools {

namespace {

// Of its repairs, the share in percent that took no longer than it says.
constexpr int repair_percent = 99;

struct ChurnReport {
  sim::ChurnResults results;
  std::uint64_t trace_hash = 0;
  double wall_seconds = 0;
};

double seconds_of(Duration time) { return static_cast<double>(time.count()) / 1e6; }

void print_json(const ChurnCommand& command, const ChurnReport& report) {
  const sim::ChurnResults& results = report.results;
  JsonLine by_kind;
  for (const auto& [kind, rate] : results.control) by_kind.add(kind, rate, 6);
  JsonLine line;
  line.add("nodes", std::uint64_t{command.options.nodes})
      .add("session_seconds", seconds_of(command.options.session), 1)
      .add("hours", command.hours, 3)
      .add("loss", command.options.loss, 4)
      .add("arrivals", results.arrivals)
      .add("failures", results.failures)
      .add("live_nodes_mean", results.live_nodes_mean, 1)
      .add("lookups", results.lookups)
      .add("lost", results.lost)
      .add("lost_share", results.lost_share(), 9)
      .add("lost_with_origin", results.lost_with_origin)
      .add("incorrect", results.incorrect)
      .add("incorrect_share", results.incorrect_share(), 9)
      .add("delay_stretch", results.delay_stretch(), 4)
      .add("prompt_delay_stretch", results.prompt_delay_stretch(), 4)
      .add("waited", results.waited)
      .add("control_per_node_per_second", results.control_per_node_per_second(), 4)
      .add("control_by_kind", by_kind)
      .add("repair_seconds_p99", seconds_of(results.repair_p99()), 1)
      .add("wall_seconds", report.wall_seconds, 3)
      .add("trace_hash", fmt::format("{:016x}", report.trace_hash));
  std::puts(line.text().c_str());
}

void print_table(const ChurnCommand& command, const ChurnReport& report) {
  const sim::ChurnResults& results = report.results;
  std::string text;
  text += fmt::format("nodes               {:.0f} active on average; {} came, {} failed\n",
                      results.live_nodes_mean, results.arrivals, results.failures);
  text += fmt::format("lookups             {}, delivered after {:.2f} times the direct delay\n",
                      results.lookups, results.delay_stretch());
  text += fmt::format("                    {:.2f} times, but for {} that waited for a place\n",
                      results.prompt_delay_stretch(), results.waited);
  text += fmt::format("lost                {} ({:.2g}); of {} the node that asked failed\n",
                      results.lost, results.lost_share(), results.lost_with_origin);
  text += fmt::format("delivered wrongly   {} ({:.2g})\n", results.incorrect,
                      results.incorrect_share());
  text += fmt::format("leaf sets repaired  {} % within {:.0f} s\n", repair_percent,
                      seconds_of(results.repair_p99()));
  text += fmt::format("control messages    {:.3f} a second and node\n",
                      results.control_per_node_per_second());
  for (const auto& [kind, rate] : results.control)
    text += fmt::format("  {:<18}{:.4f}\n", kind, rate);
  text += fmt::format("time                {:g} hours of virtual time in {:.1f} s\n", command.hours,
                      report.wall_seconds);
  text += fmt::format("trace hash          {:016x}\n", report.trace_hash);
  std::fputs(text.c_str(), stdout);
}

ChurnReport measure(const sim::ChurnOptions& options) {
  ProgressBar bar;
  const auto start = std::chrono::steady_clock::now();
  sim::ChurnExperiment experiment(
      options, [&bar](std::string_view what, double done) { bar.show(what, done); });
  ChurnReport report;
  report.results = experiment.run();
  report.trace_hash = experiment.simulation().trace().hash();
  report.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bar.clear();
  return report;
}

bool complain_of_plot(const std::string& path) {
  std::fprintf(stderr, "canopy-sim: --plot %s: cannot be written\n", path.c_str());
  return false;
}

// What is there stays, until there is something to put in its place.
bool can_write_plot(const std::string& path) {
  return std::ofstream(path, std::ios::app) || complain_of_plot(path);
}

bool write_plot(const std::string& path, const sim::ChurnResults& results) {
  std::ofstream file(path);
  file << churn_plot(results);
  file.close();
  return file || complain_of_plot(path);
}

}  // namespace

int run(const ChurnCommand& command) {
  TraceFile trace(command.trace);
  if (!trace.open()) return 2;
  if (!command.plot.empty() && !can_write_plot(command.plot)) return 2;
  sim::ChurnOptions options = command.options;
  options.span = Duration(static_cast<std::int64_t>(command.hours * 3600e6));
  options.trace = trace.stream();
  const ChurnReport report = measure(options);
  if (command.json) {
    print_json(command, report);
  } else {
    print_table(command, report);
  }
  const bool drawn = command.plot.empty() || write_plot(command.plot, report.results);
  return trace.close() && drawn ? 0 : 1;
}

}  // namespace canopy::tools
