#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/json_line.hpp"
#include "canopy-sim/commands.hpp"
#include "canopy-sim/resident_memory.hpp"
#include "canopy-sim/trace_file.hpp"
#include "common/progress_bar.hpp"
#include "sim/disaster_experiment.hpp"

namespace canopy::tools {

namespace {

struct DisasterReport {
  sim::DisasterResults results;
  std::uint64_t trace_hash = 0;
  double virtual_seconds = 0;
  double wall_seconds = 0;
};

double in_seconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

// -1 if it never came right.
double in_seconds(const std::optional<Duration>& time) { return time ? in_seconds(*time) : -1; }

std::string text_of(const std::optional<Duration>& time) {
  return time ? fmt::format("from {:.1f} s on", in_seconds(*time)) : std::string("not by the end");
}

double per_node(std::uint64_t count, const sim::DisasterResults& results) {
  return static_cast<double>(count) / static_cast<double>(results.nodes_before);
}

void print_json(const DisasterCommand& command, const DisasterReport& report) {
  const sim::DisasterResults& results = report.results;
  JsonLine line;
  line.add("disaster", command.what)
      .add("profile", command.profile)
      .add("nodes_before", std::uint64_t{results.nodes_before})
      .add("nodes_after", std::uint64_t{results.nodes_after})
      .add("whole", results.whole())
      .add("leaf_sets_exact_after_seconds", in_seconds(results.leaf_sets), 1)
      .add("keys_served_after_seconds", in_seconds(results.keys), 1)
      .add("members_reached_after_seconds", in_seconds(results.members), 1)
      .add("trees_exact_after_seconds", in_seconds(results.trees), 1)
      .add("watched_seconds", in_seconds(results.watched), 1)
      .add("lookups", results.lookups.lookups)
      .add("lookups_lost", results.lookups.lost)
      .add("lookups_incorrect", results.lookups.incorrect)
      .add("lookups_slowest_seconds", in_seconds(results.lookups.slowest), 3);
  if (results.lookups_bad_until) {
    line.add("lookups_bad_until_seconds", in_seconds(*results.lookups_bad_until), 1);
  }
  if (results.sides_consistent) line.add("sides_consistent", *results.sides_consistent);
  line.add("probes_per_second_one_node", results.probes.one_node)
      .add("probes_per_second_and_node", per_node(results.probes.all, results), 3)
      .add("probes_per_second_and_node_before", per_node(results.probes_before, results), 3)
      .add("messages_per_second_one_node", results.messages.one_node)
      .add("messages_per_second_and_node", per_node(results.messages.all, results), 3)
      .add("messages_per_second_and_node_before", per_node(results.messages_before, results), 3)
      .add("last_members", std::uint64_t{results.last.members})
      .add("last_reached", std::uint64_t{results.last.reached})
      .add("last_twice", std::uint64_t{results.last.twice})
      .add("gaps_told", results.gaps_told)
      .add("access_conflicts", results.access_conflicts)
      .add("evictions", results.evictions)
      .add("heap_bytes_before", results.memory_before)
      .add("heap_bytes_during", results.memory_during)
      .add("peak_resident_bytes", peak_resident_bytes())
      .add("findings", std::uint64_t{results.findings.size()})
      .add("virtual_seconds", report.virtual_seconds, 1)
      .add("wall_seconds", report.wall_seconds, 3)
      .add("trace_hash", fmt::format("{:016x}", report.trace_hash));
  std::puts(line.text().c_str());
}

void print_table(const DisasterReport& report) {
  const sim::DisasterResults& results = report.results;
  std::string text;
  text += fmt::format("nodes               {} before, {} after\n", results.nodes_before,
                      results.nodes_after);
  text += fmt::format("leaf sets exact     {}\n", text_of(results.leaf_sets));
  text += fmt::format("one deliverer       {}, of every key\n", text_of(results.keys));
  text += fmt::format("members reached     {}, from one root a group\n", text_of(results.members));
  text += fmt::format("trees exact         {} (last: {})\n", text_of(results.trees),
                      results.trees_before.empty() ? "nothing wrong" : results.trees_before);
  if (results.sides_consistent) {
    text += fmt::format("while parted        each side was {} in itself\n",
                        *results.sides_consistent ? "consistent" : "NOT consistent");
  }
  text += fmt::format("lookups             {}: {} lost, {} delivered wrongly{}; slowest {:.1f} s\n",
                      results.lookups.lookups, results.lookups.lost, results.lookups.incorrect,
                      results.lookups_bad_until
                          ? fmt::format(" (until {:.1f} s)", in_seconds(*results.lookups_bad_until))
                          : std::string(),
                      in_seconds(results.lookups.slowest));
  text += fmt::format("last messages       reached {} of {} members, {} of them twice\n",
                      results.last.reached, results.last.members, results.last.twice);
  text += fmt::format("gaps told           {}; access lists that met another: {}\n",
                      results.gaps_told, results.access_conflicts);
  text += fmt::format(
      "probes              {:.1f} a second and node at the worst ({:.1f} before), {} of one\n",
      per_node(results.probes.all, results), per_node(results.probes_before, results),
      results.probes.one_node);
  text += fmt::format(
      "messages            {:.1f} a second and node at the worst ({:.1f} before), {} of one\n",
      per_node(results.messages.all, results), per_node(results.messages_before, results),
      results.messages.one_node);
  text += fmt::format("evictions           {}\n", results.evictions);
  text += fmt::format("memory              {:.1f} MB at the most, {:.1f} MB before\n",
                      static_cast<double>(results.memory_during) / 1e6,
                      static_cast<double>(results.memory_before) / 1e6);
  text += fmt::format("time                {:.1f} s of virtual time in {:.1f} s\n",
                      report.virtual_seconds, report.wall_seconds);
  text += fmt::format("trace hash          {:016x}\n", report.trace_hash);
  std::fputs(text.c_str(), stdout);
}

DisasterReport measure(const sim::DisasterOptions& options) {
  ProgressBar bar;
  const auto start = std::chrono::steady_clock::now();
  sim::DisasterExperiment experiment(
      options, [&bar](std::string_view what, double done) { bar.show(what, done); });
  DisasterReport report;
  report.results = experiment.run();
  report.trace_hash = experiment.simulation().trace().hash();
  report.virtual_seconds = in_seconds(experiment.simulation().now().time_since_epoch());
  report.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bar.clear();
  return report;
}

}  // namespace

int run(const DisasterCommand& command) {
  if (command.options.span != Duration::zero() && !sim::has_span(command.options.disaster)) {
    std::fprintf(stderr, "canopy-sim: --span is for partition, stuck and calm, not for %s\n",
                 command.what.c_str());
    return 2;
  }
  TraceFile trace(command.trace);
  if (!trace.open()) return 2;
  sim::DisasterOptions options = command.options;
  options.wan = command.profile == "wan";
  options.trace = trace.stream();
  options.memory = heap_bytes;
  const DisasterReport report = measure(options);
  if (command.json) {
    print_json(command, report);
  } else {
    print_table(report);
  }
  for (const std::string& finding : report.results.findings) {
    std::fprintf(stderr, "canopy-sim: %s\n", finding.c_str());
  }
  return trace.close() && report.results.whole() ? 0 : 1;
}

}  // namespace canopy::tools
