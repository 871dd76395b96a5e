#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/json_line.hpp"
#include "canopy-sim/commands.hpp"
#include "canopy-sim/resident_memory.hpp"
#include "canopy-sim/scribe_plots.hpp"
#include "common/progress_bar.hpp"
#include "sim/scribe_experiment.hpp"

namespace canopy::tools {

namespace {

// With the trees' inner nodes, what fits the memory of a large machine.
constexpr std::size_t memberships_max = 100'000'000;

struct ScribeResult {
  const sim::ScribeReport& report;
  sim::Summary tables = sim::summary(report.figures.tables);
  sim::Summary entries = sim::summary(report.figures.entries);
  sim::Summary rad = sim::summary(report.figures.rad);
  sim::Summary rmd = sim::summary(report.figures.rmd);
  double wall_seconds = 0;
};

void print_json(const ScribeResult& result) {
  const sim::ScribeFigures& figures = result.report.figures;
  JsonLine line;
  line.add("memberships", figures.memberships)
      .add("tree_nodes", figures.tree_nodes)
      .add("joins", result.report.joins)
      .add("tables_per_node_mean", result.tables.mean, 4)
      .add("tables_per_node_max", static_cast<std::uint64_t>(result.tables.most))
      .add("entries_per_node_mean", result.entries.mean, 4)
      .add("entries_per_node_median", result.entries.median, 1)
      .add("entries_per_node_max", static_cast<std::uint64_t>(result.entries.most))
      .add("rad_median", result.rad.median, 4)
      .add("rad_max", result.rad.most, 4)
      .add("rmd_median", result.rmd.median, 4)
      .add("rmd_max", result.rmd.most, 4)
      .add("link_messages_scribe", figures.scribe.messages())
      .add("link_messages_ip", figures.ip.messages())
      .add("link_messages_unicast", figures.unicast.messages())
      .add("link_stress_max_scribe", std::uint64_t{figures.scribe.most()})
      .add("link_stress_max_ip", std::uint64_t{figures.ip.most()})
      .add("link_stress_max_unicast", std::uint64_t{figures.unicast.most()})
      .add("remover_moves", result.report.remover_moves)
      .add("wall_seconds", result.wall_seconds, 3)
      .add("max_rss_bytes", peak_resident_bytes());
  std::puts(line.text().c_str());
}

// What the paper says of its two experiments; a dash where it says nothing.
struct PaperFigures {
  const char* experiment;
  const char* tables = "-";
  const char* entries = "-";
  const char* rad = "-";
  const char* rmd = "-";
  const char* messages = "-";
  const char* over_ip = "-";
  const char* over_unicast = "-";
  const char* stress = "-";
};

PaperFigures paper_figures(const sim::ScribeOptions& options) {
  if (options.group_size > 0) {
    PaperFigures few_members{"30,000 groups of 11 members, 50,000 nodes"};
    few_members.entries = options.collapse ? "8.5" : "21.2";
    few_members.over_unicast = options.collapse ? "1.14, of mean stress" : "2.10, of mean stress";
    return few_members;
  }
  PaperFigures many_sizes{"1,500 groups of Zipf sizes, 100,000 nodes"};
  if (options.collapse) return many_sizes;
  if (options.children_max > 0) {
    many_sizes.experiment = "1,500 groups of Zipf sizes, 100,000 nodes, at most 64 children";
    many_sizes.entries = "most 64";
    many_sizes.stress = "4,728 / 950";
    return many_sizes;
  }
  many_sizes.tables = "2.4, most 40";
  many_sizes.entries = "6.2, median 3, most 1,059";
  many_sizes.rad = "1.68, most 2";
  many_sizes.rmd = "1.69, most 4.26";
  many_sizes.messages = "2,489,824 / 758,853";
  many_sizes.over_ip = "3.28";
  many_sizes.stress = "4,031 / 950";
  return many_sizes;
}

std::string with_commas(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string of_both(std::uint64_t scribe, std::uint64_t ip) {
  return with_commas(scribe) + " / " + with_commas(ip);
}

std::string over(const sim::LinkLoads& a, const sim::LinkLoads& b) {
  if (b.messages() == 0) return "-";
  return fmt::format("{:.2f}",
                     static_cast<double>(a.messages()) / static_cast<double>(b.messages()));
}

std::string ratio_text(const sim::Summary& ratio) {
  return ratio.most == 0 ? "-" : fmt::format("{:.2f}, most {:.2f}", ratio.median, ratio.most);
}

void print_table(const ScribeCommand& command, const ScribeResult& result) {
  const sim::ScribeFigures& figures = result.report.figures;
  const PaperFigures paper = paper_figures(command.options);
  struct Row {
    const char* what;
    std::string measured;
    std::string paper;
  };
  const sim::LinkLoads& scribe = figures.scribe;
  const sim::LinkLoads& ip = figures.ip;
  const std::vector<Row> rows{
      {"", "measured", "paper"},
      {"children tables per node",
       fmt::format("{:.2f}, most {}", result.tables.mean, result.tables.most), paper.tables},
      {"children per node",
       fmt::format("{:.2f}, median {}, most {}", result.entries.mean, result.entries.median,
                   result.entries.most),
       paper.entries},
      {"RAD, median of the groups", ratio_text(result.rad), paper.rad},
      {"RMD, median of the groups", ratio_text(result.rmd), paper.rmd},
      {"messages on all links, Scribe / IP multicast", of_both(scribe.messages(), ip.messages()),
       paper.messages},
      {"  Scribe over IP multicast", over(scribe, ip), paper.over_ip},
      {"  Scribe over unicast", over(scribe, figures.unicast), paper.over_unicast},
      {"highest link stress, Scribe / IP multicast", of_both(scribe.most(), ip.most()),
       paper.stress},
  };
  std::string text = fmt::format(
      "{} nodes with {} tables, {} groups with {} members and {} nodes in their trees\n\n",
      with_commas(command.options.nodes), command.tables, with_commas(command.options.groups),
      with_commas(figures.memberships), with_commas(figures.tree_nodes));
  for (const Row& row : rows) {
    text += fmt::format("{:<45}{:<29}{}\n", row.what, row.measured, row.paper);
  }
  text += fmt::format("\nthe paper's: {}\n", paper.experiment);
  if (command.options.children_max > 0) {
    text += fmt::format("bottleneck remover: {} moves\n", with_commas(result.report.remover_moves));
  }
  text += fmt::format("{} JOINs, {:.1f} s, {} MB\n", with_commas(result.report.joins),
                      result.wall_seconds, peak_resident_bytes() >> 20);
  std::fputs(text.c_str(), stdout);
}

// Why these options make no experiment; empty if they do.
std::string mistake_in(const sim::ScribeOptions& options) {
  if (options.group_size > options.nodes) {
    return fmt::format("--sizes fixed:{}: there are {} nodes", options.group_size, options.nodes);
  }
  if (options.group_size * options.groups > memberships_max) {
    return fmt::format("--groups {} of {} members: more than {} together", options.groups,
                       options.group_size, memberships_max);
  }
  return {};
}

bool make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return true;
  std::fprintf(stderr, "canopy-sim: --plot %s: %s\n", path.c_str(), error.message().c_str());
  return false;
}

bool write_plots(const std::string& folder, const sim::ScribeFigures& figures) {
  for (const ScribePlot& plot : scribe_plots(figures)) {
    const std::filesystem::path path = std::filesystem::path(folder) / plot.file;
    std::ofstream file(path);
    file << plot.svg;
    file.close();
    if (file) continue;
    std::fprintf(stderr, "canopy-sim: %s: cannot be written\n", path.c_str());
    return false;
  }
  return true;
}

}  // namespace

int run(const ScribeCommand& command) {
  const std::string mistake = mistake_in(command.options);
  if (!mistake.empty()) {
    std::fprintf(stderr, "canopy-sim: %s\n", mistake.c_str());
    return 2;
  }
  if (!command.plot.empty() && !make_folder(command.plot)) return 1;
  sim::ScribeOptions options = command.options;
  if (command.tables == "protocol") options.tables = sim::ScribeOptions::Tables::protocol;
  ProgressBar bar;
  const auto start = std::chrono::steady_clock::now();
  const auto report = sim::run_scribe_experiment(
      options, [&bar](std::string_view what, double done) { bar.show(what, done); });
  ScribeResult result{report};
  result.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bar.clear();
  if (command.json) {
    print_json(result);
  } else {
    print_table(command, result);
  }
  if (report.missed > 0) {
    std::fprintf(stderr, "canopy-sim: %llu members are in no tree\n",
                 static_cast<unsigned long long>(report.missed));
    return 1;
  }
  return command.plot.empty() || write_plots(command.plot, report.figures) ? 0 : 1;
}

}  // namespace canopy::tools
