#include <chrono>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/json_line.hpp"
#include "canopy-sim/commands.hpp"
#include "canopy-sim/resident_memory.hpp"
#include "canopy-sim/trace_file.hpp"
#include "common/progress_bar.hpp"
#include "sim/ring_experiment.hpp"

namespace canopy::tools {

namespace {

constexpr std::size_t findings_shown = 10;

struct RingReport {
  sim::RingGrowth growth;
  sim::Findings findings;
  sim::LookupResults lookups;
  sim::LookupResults ideal;
  sim::ZoneFigures zones;
  double bytes_per_node = 0;
  double virtual_seconds = 0;
  double wall_seconds = 0;  // without the comparison with ideal tables
  std::uint64_t events = 0;
  std::uint64_t trace_hash = 0;

  bool exact() const { return findings.empty(); }
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

RingReport measure(const sim::RingOptions& options, ProgressBar& bar) {
  const auto start = std::chrono::steady_clock::now();
  sim::RingExperiment ring(options,
                           [&bar](std::string_view what, double done) { bar.show(what, done); });
  const std::uint64_t before = heap_bytes();  // what is resident differs from run to run
  RingReport report;
  report.growth = ring.grow();
  report.bytes_per_node =
      static_cast<double>(heap_bytes() - before) / static_cast<double>(options.nodes);
  report.findings = ring.check();
  report.zones = ring.zones();
  report.lookups = ring.look_up();
  const auto& simulation = ring.simulation();
  report.virtual_seconds = static_cast<double>(simulation.now().time_since_epoch().count()) / 1e6;
  report.events = simulation.events();
  report.trace_hash = ring.simulation().trace().hash();
  report.wall_seconds = seconds_since(start);
  report.ideal = ring.look_up_ideally();
  return report;
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

void print_json(const RingCommand& command, const RingReport& report) {
  JsonLine by_type;
  for (const auto& [type, sent] : report.growth.messages) {
    by_type.add(type,
                static_cast<double>(sent.messages) / static_cast<double>(command.options.nodes), 3);
  }
  JsonLine line;
  line.add("nodes", std::uint64_t{command.options.nodes})
      .add("incorrect_deliveries", report.lookups.incorrect)
      .add("lost_lookups", report.lookups.lost)
      .add("leaf_sets_exact", report.exact())
      .add("hops_share", report.lookups.hops_share(), 5)
      .add("mean_hops", report.lookups.mean_hops(), 4)
      .add("delay_stretch", report.lookups.delay_stretch(), 4)
      .add("messages_per_join", report.growth.messages_per_join, 2)
      .add("bytes_per_node", report.bytes_per_node, 1)
      .add("virtual_seconds", report.virtual_seconds, 3)
      .add("wall_seconds", report.wall_seconds, 3)
      .add("events", report.events)
      .add("trace_hash", hash_text(report.trace_hash))
      .add("lookups", report.lookups.lookups)
      .add("ideal_hops_share", report.ideal.hops_share(), 5)
      .add("ideal_mean_hops", report.ideal.mean_hops(), 4)
      .add("ideal_delay_stretch", report.ideal.delay_stretch(), 4)
      .add("messages_per_join_by_type", by_type);
  if (command.options.zones != 0) {
    line.add("table_entries", report.zones.entries)
        .add("table_entries_own_zone_possible", report.zones.possible)
        .add("table_entries_own_zone", report.zones.own);
  }
  std::puts(line.text().c_str());
}

std::string shares_text(const sim::LookupResults& lookups) {
  std::string text;
  for (const double share : lookups.hops_share()) text += fmt::format("  {:.4f}", share);
  return text;
}

void print_table(const RingCommand& command, const RingReport& report) {
  const auto& lookups = report.lookups;
  const auto nodes = static_cast<double>(command.options.nodes);
  std::string text;
  text += fmt::format("nodes               {} ({} active)\n", command.options.nodes,
                      report.growth.active);
  text += fmt::format("leaf sets           {}\n",
                      report.exact() ? "exact" : fmt::format("{} wrong", report.findings.size()));
  text += fmt::format("lookups             {} ({} lost, {} delivered wrongly)\n", lookups.lookups,
                      lookups.lost, lookups.incorrect);
  text += fmt::format("hops                {:.3f} (ideal tables: {:.3f})\n", lookups.mean_hops(),
                      report.ideal.mean_hops());
  text += fmt::format("share by hops 0..  {}\n  with ideal tables{}\n", shares_text(lookups),
                      shares_text(report.ideal));
  text += fmt::format("delay stretch       {:.3f} (ideal tables: {:.3f})\n",
                      lookups.delay_stretch(), report.ideal.delay_stretch());
  if (command.options.zones != 0) {
    text += fmt::format(
        "entries of tables   {}, {} of them of the own zone, which has somebody for {}\n",
        report.zones.entries, report.zones.own, report.zones.possible);
  }
  text += fmt::format("messages per join   {:.1f}\n", report.growth.messages_per_join);
  for (const auto& [type, sent] : report.growth.messages) {
    text += fmt::format("  {:<18}{:.2f}, {:.0f} bytes each\n", type,
                        static_cast<double>(sent.messages) / nodes,
                        static_cast<double>(sent.bytes) / static_cast<double>(sent.messages));
  }
  text += fmt::format("memory              {:.0f} bytes a node\n", report.bytes_per_node);
  text += fmt::format("time                {:.1f} s of virtual time in {:.1f} s\n",
                      report.virtual_seconds, report.wall_seconds);
  text += fmt::format("events              {} ({:.0f} a second)\n", report.events,
                      static_cast<double>(report.events) / report.wall_seconds);
  text += fmt::format("trace hash          {}\n", hash_text(report.trace_hash));
  std::fputs(text.c_str(), stdout);
}

}  // namespace

int run(const RingCommand& command) {
  TraceFile trace(command.trace);
  if (!trace.open()) return 2;
  sim::RingOptions options = command.options;
  options.trace = trace.stream();
  ProgressBar bar;
  const RingReport report = measure(options, bar);
  bar.clear();
  if (command.json) {
    print_json(command, report);
  } else {
    print_table(command, report);
  }
  for (std::size_t i = 0; i < report.findings.size() && i < findings_shown; ++i) {
    std::fprintf(stderr, "canopy-sim: %s\n", report.findings[i].c_str());
  }
  const bool sound = report.exact() && report.lookups.incorrect == 0 && report.lookups.lost == 0;
  return trace.close() && sound ? 0 : 1;
}

}  // namespace canopy::tools
