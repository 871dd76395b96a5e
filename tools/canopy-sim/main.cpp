// canopy-sim: the overlay's protocol code in virtual time.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "canopy-sim/commands.hpp"
#include "common/cli.hpp"
#include "common/standard_files.hpp"

namespace canopy::tools {
namespace {

constexpr std::size_t nodes_max = 2'000'000;

template <class Number>
struct Range {
  Number min;
  Number max;
};

// What is wrong with the text; otherwise it is in `value`. CLI11 by itself takes -1 for the largest
// number that there is, 010 for eight, and nan for a positive one.
template <class Number>
std::string read_number(const std::string& text, Number& value,
                        Range<std::type_identity_t<Number>> range) {
  const char* const end = text.data() + text.size();
  Number number{};
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool within = number >= range.min && number <= range.max;  // nan is not
  if (error != std::errc() || stop != end || !within)
    return fmt::format("'{}' is no number from {} to {}", text, range.min, range.max);
  value = number;
  return {};
}

template <class Number>
cli::Option add_number(cli::Command command, const std::string& name, Number& value,
                       Range<std::type_identity_t<Number>> range, const std::string& help) {
  const auto read = [&value, range](const std::string& text) {
    return read_number(text, value, range);
  };
  return command.option_read_by(name, read, help).value_name("N");
}

// The option of one of a few words; `value` holds the default.
cli::Option add_choice(cli::Command command, const std::string& name, std::string& value,
                       const std::vector<std::string>& choices, const std::string& help) {
  const auto read = [&value, choices](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end())
      return fmt::format("'{}' is not one of: {}", text, fmt::join(choices, ", "));
    value = text;
    return std::string();
  };
  return command.option_read_by(name, read, help).value_name("WORD").show_default(value);
}

// Each of these adds a command to the command line; when it is the chosen one, `status` becomes
// its exit status.

void add_scenario_command(cli::Command program, int& status) {
  const auto command = std::make_shared<ScenarioCommand>();
  cli::Command parser = program.command(
      "scenario", "Run the steps of a scenario file; one JSON line each says what came of it");
  parser.option("FILE", command->file, "A scenario in JSON, as in tests/data/scenarios/")
      .required();
  parser.option("--trace", command->trace,
                "Write every message to this file: time_us from to type bytes");
  parser.flag("--encode", command->encode, "Pass every message through the wire format");
  parser.footer(
      "Exit status: 0 if all steps ran and routes and trees were sound, 1 if not,\n"
      "2 if FILE is no scenario.\n\n"
      "Example: canopy-sim scenario tests/data/scenarios/tree-64-build.json");
  parser.action([command, &status] { status = run(*command); });
}

void add_ring_command(cli::Command program, int& status) {
  const auto command = std::make_shared<RingCommand>();
  cli::Command parser = program.command(
      "ring", "Grow a ring by the join protocol, check it, and measure hops, delay and cost");
  sim::RingOptions& options = command->options;
  add_number(parser, "--nodes", options.nodes, {1, nodes_max}, "How many nodes join")
      .show_default(fmt::format("{}", options.nodes));
  add_number(parser, "--seed", options.seed, {0, UINT64_MAX}, "The same seed gives the same run")
      .show_default(fmt::format("{}", options.seed));
  add_number(parser, "--join-rate", options.join_rate, {0.001, 1'000'000},
             "Joins a second once the ring has grown to ten times as many nodes; until\n"
             "then a tenth of its nodes (default: nodes / 300)");
  add_number(parser, "--zones", options.zones, {1, 1000},
             "Give nodes as many zone labels, by neighbouring routers (10: a label a transit\n"
             "domain), and say how many entries of tables are of the node's own zone\n"
             "(default: no labels)");
  parser.flag("--json", command->json, "Print one JSON object instead of a table");
  parser.option("--trace", command->trace,
                "Write every message to this file: time_us from to type bytes");
  parser.flag("--encode", options.encode, "Pass every message through the wire format");
  parser.footer(
      "Nodes live on a transit-stub internet of 5,050 routers and use the WAN profile.\n"
      "Delay stretch is the delay along the hops over the direct one. The same lookups\n"
      "are made again in the same ring with ideal tables, for comparison.\n"
      "Exit status: 0 if every leaf set is exact and every lookup was delivered by the\n"
      "closest node, 1 if not, 2 for wrong usage.\n\n"
      "Example: canopy-sim ring --nodes 10000 --seed 7");
  parser.action([command, &status] { status = run(*command); });
}

// "zipf" or "fixed:N" into the size of groups.
std::string read_sizes(const std::string& text, std::size_t& size) {
  constexpr std::string_view fixed = "fixed:";
  size = 0;
  if (text == "zipf") return {};
  if (text.starts_with(fixed)) {
    const std::string problem = read_number(text.substr(fixed.size()), size, {1, nodes_max});
    if (problem.empty()) return {};
  }
  return fmt::format("'{}' is neither zipf nor fixed:N with N from 1 to {}", text, nodes_max);
}

void add_scribe_command(cli::Command program, int& status) {
  const auto command = std::make_shared<ScribeCommand>();
  cli::Command parser =
      program.command("scribe", "Measure Scribe's trees as its paper does, and print both figures");
  sim::ScribeOptions& options = command->options;
  add_number(parser, "--nodes", options.nodes, {1, nodes_max}, "How many nodes there are")
      .show_default(fmt::format("{}", options.nodes));
  add_number(parser, "--groups", options.groups, {1, 1'000'000}, "How many groups there are")
      .show_default(fmt::format("{}", options.groups));
  parser
      .option_read_by(
          "--sizes",
          [&options](const std::string& text) { return read_sizes(text, options.group_size); },
          "Members of each group: zipf, for nodes * rank^-1.25 of the group of each\n"
          "rank, or fixed:N")
      .value_name("SIZES")
      .show_default("zipf");
  add_choice(parser, "--topology", command->topology, {"transit-stub"},
             "Where the nodes live: an internet of 5,050 routers");
  add_choice(parser, "--tables", command->tables, {"ideal", "protocol"},
             "Where their routing tables come from. ideal: each entry is the nearest of\n"
             "all nodes that fit, and trees are worked out from the routes. protocol:\n"
             "the ring is grown by joins, and members join by Scribe's own messages");
  add_number(parser, "--remover", options.children_max, {1, 1'000'000},
             "Scribe's bottleneck remover: no node has more children than this, in all its\n"
             "groups together. With tables by the protocol the nodes' own; else it is\n"
             "worked out on the finished trees")
      .value_name("CAP");
  parser.flag("--collapse", options.collapse,
              "Scribe's path collapse: nodes that are no members and have one child leave.\n"
              "By the nodes or worked out, as --remover");
  add_number(parser, "--failures", options.failures, {0, 0.9},
             "When all have joined, this share of the nodes fails at once. With tables by\n"
             "the protocol the rest repair ring and trees; ideal trees are those of a ring\n"
             "without them. Nodes that have failed do not count")
      .value_name("P");
  add_number(parser, "--seed", options.seed, {0, UINT64_MAX}, "The same seed gives the same trees")
      .show_default(fmt::format("{}", options.seed));
  parser.flag("--json", command->json, "Print one JSON object instead of a table");
  parser
      .option("--plot", command->plot,
              "Draw the distributions of delay penalty, node stress and link stress\n"
              "into SVG files in this folder")
      .value_name("DIR");
  parser.footer(
      "The paper: Castro, Druschel, Kermarrec, Rowstron: Scribe, JSAC 2002; without\n"
      "options its experiment is repeated. One message goes to each group, from its\n"
      "root. RAD and RMD are the average and the maximum delay to the group's members\n"
      "over those of IP multicast; a link's stress is the number of messages on it,\n"
      "both ways together.\n"
      "Exit status: 0 done, 1 if a member is in no tree or DIR cannot be written, 2 for\n"
      "wrong usage.\n\n"
      "Example: canopy-sim scribe --nodes 50000 --groups 30000 --sizes fixed:11 --collapse");
  parser.action([command, &status] { status = run(*command); });
}

// "90s", "5m" or "2.3h".
std::string read_time(const std::string& text, Duration& time) {
  constexpr double seconds_max = 1e7;
  const std::map<char, double> units{{'s', 1}, {'m', 60}, {'h', 3600}};
  const auto unit = text.empty() ? units.end() : units.find(text.back());
  double number = 0;
  if (unit != units.end() &&
      read_number(text.substr(0, text.size() - 1), number, {1e-3, seconds_max}).empty() &&
      number * unit->second >= 1 && number * unit->second <= seconds_max) {
    time = Duration(static_cast<std::int64_t>(number * unit->second * 1e6));
    return {};
  }
  return fmt::format("'{}' is no time of a second or more, like 90s, 5m or 2.3h", text);
}

// One of the words of sim::Disaster.
std::string read_disaster(const std::string& text, DisasterCommand& command) {
  using sim::Disaster;
  static const std::map<std::string, Disaster> disasters{
      {"half", Disaster::half},           {"neighbors", Disaster::neighbors},
      {"zone", Disaster::zone},           {"partition", Disaster::partition},
      {"strangers", Disaster::strangers}, {"flash-crowd", Disaster::flash_crowd},
      {"stuck", Disaster::stuck},         {"calm", Disaster::calm}};
  const auto found = disasters.find(text);
  if (found == disasters.end()) {
    return fmt::format(
        "'{}' is not one of: half, neighbors, zone, partition, strangers, "
        "flash-crowd, stuck, calm",
        text);
  }
  command.what = text;
  command.options.disaster = found->second;
  return {};
}

void add_churn_command(cli::Command program, int& status) {
  const auto command = std::make_shared<ChurnCommand>();
  cli::Command parser = program.command(
      "churn",
      "Let nodes come and go all the time, and measure lost and wrong deliveries and upkeep");
  sim::ChurnOptions& options = command->options;
  const auto add_time = [&](const std::string& name, Duration& time, const std::string& help,
                            const std::string& by_default) {
    parser
        .option_read_by(
            name, [&time](const std::string& text) { return read_time(text, time); }, help)
        .value_name("TIME")
        .show_default(by_default);
  };
  add_number(parser, "--nodes", options.nodes, {8, 200'000}, "How many nodes there are on average")
      .show_default(fmt::format("{}", options.nodes));
  add_time("--session", options.session, "How long a node stays on average", "2.3h");
  add_number(parser, "--hours", command->hours, {0.01, 1'000}, "How long to measure")
      .show_default("10");
  add_number(parser, "--loss", options.loss, {0, 0.9}, "The share of all messages that is lost")
      .show_default("0");
  add_number(parser, "--lookups", options.lookups, {0.00001, 1'000}, "Lookups a second and node")
      .show_default("0.01");
  add_number(parser, "--seed", options.seed, {0, UINT64_MAX}, "The same seed gives the same run")
      .show_default(fmt::format("{}", options.seed));
  parser.flag("--json", command->json, "Print one JSON object instead of a table");
  parser
      .option("--plot", command->plot,
              "Draw live nodes, lost and wrong deliveries, and control traffic over time\n"
              "into this SVG file")
      .value_name("FILE");
  parser.option("--trace", command->trace,
                "Write every message to this file: time_us from to type bytes");
  parser.flag("--encode", options.encode, "Pass every message through the wire format");
  parser.footer(
      "Nodes live on a transit-stub internet and use the WAN profile. They stay for an\n"
      "exponentially distributed time and then fail without a word; others take their\n"
      "places. A lookup is lost if nobody delivers it within 60 s, and delivered wrongly\n"
      "if another node than the closest active one does. Control traffic is all but the\n"
      "lookups and their answers; acknowledgements of their hops are in it.\n"
      "Exit status: 0 done, 1 if FILE cannot be written, 2 for wrong usage.\n\n"
      "Example: canopy-sim churn --session 30m --hours 2 --loss 0.05");
  parser.action([command, &status] { status = run(*command); });
}

void add_disaster_command(cli::Command program, int& status) {
  const auto command = std::make_shared<DisasterCommand>();
  cli::Command parser = program.command(
      "disaster", "Let something happen to a large ring, and measure how it comes right again");
  sim::DisasterOptions& options = command->options;
  parser
      .option_read_by(
          "WHAT", [command](const std::string& text) { return read_disaster(text, *command); },
          "half: of all nodes die at once.\n"
          "neighbors: |L|/2 - 1 nodes next to each other die at once.\n"
          "zone: all nodes of a tenth of the network die at once.\n"
          "partition: the network parts the nodes, 60 and 40 of a hundred, and heals.\n"
          "strangers: two rings, of 60 and of 40 in a hundred, that never met; one has a seed in\n"
          "the other.\n"
          "flash-crowd: as many nodes as there are join within a minute.\n"
          "stuck: a node hangs, and comes back.\n"
          "calm: nothing happens for as long, to compare")
      .required();
  add_number(parser, "--nodes", options.nodes, {20, 200'000}, "How many nodes there are before")
      .show_default(fmt::format("{}", options.nodes));
  add_choice(parser, "--profile", command->profile, {"lan", "wan"},
             "lan: in a machine room. wan: on an internet of 5,050 routers");
  add_number(parser, "--groups", options.groups, {0, 100'000},
             "Groups of twenty members each, every other one ordered; messages go to them\n"
             "all the time")
      .show_default(fmt::format("{}", options.groups));
  parser
      .option_read_by(
          "--span", [&options](const std::string& text) { return read_time(text, options.span); },
          "How long the partition lasts (default: 10m), or the node hangs, or nothing happens\n"
          "(both 1h)")
      .value_name("TIME");
  add_number(parser, "--seed", options.seed, {0, UINT64_MAX}, "The same seed gives the same run")
      .show_default(fmt::format("{}", options.seed));
  parser.flag("--json", command->json, "Print one JSON object instead of a table");
  parser.option("--trace", command->trace,
                "Write every message to this file: time_us from to type bytes");
  parser.flag("--encode", options.encode, "Pass every message through the wire format");
  parser.footer(
      "The ring is watched for 3 minutes (lan) or 5 (wan), and looked at ten times a\n"
      "second or once. Keys are all nodes' ids, the midpoints between neighbours and a\n"
      "thousand others: each is to have one node that would deliver it.\n"
      "Exit status: 0 if all is well at the end, 1 if not, 2 for wrong usage.\n\n"
      "Example: canopy-sim disaster partition --nodes 1000 --profile wan --groups 300");
  parser.action([command, &status] { status = run(*command); });
}

void add_fuzz_command(cli::Command program, int& status) {
  const auto command = std::make_shared<FuzzCommand>();
  cli::Command parser = program.command(
      "fuzz", "Run random schedules of every fault and check that the ring comes right again");
  parser.option("--seeds", command->seeds, "One schedule a seed: A..B, both included").required();
  parser.flag("--hard", command->hard,
              "Half of the schedules have long cuts and hangs, roots struck in turn, streams of\n"
              "messages, slow links, and constants so small that they are met");
  parser.flag("--twice", command->twice, "Run each seed twice and compare trace hashes");
  parser.flag("--hashes", command->hashes, "Print each seed's trace hash");
  parser.flag("--rare", command->rare,
              "Say how often each branch that the code marks as rare was taken; one that never\n"
              "was is a finding");
  parser.flag("--encode", command->encode, "Pass every message through the wire format");
  parser.flag("--json", command->json, "Print one JSON object at the end");
  parser.option("--trace", command->trace, "Write every message of the one seed to this file");
  parser.footer(
      "Stops at the first seed with a finding and prints it with the command line that\n"
      "runs it again. Exit status: 0 no finding, 1 a finding, 2 wrong usage.\n\n"
      "Example: canopy-sim fuzz --seeds 1..100 --twice");
  parser.action([command, &status] { status = run(*command); });
}

void add_trace_hash_command(cli::Command program, int& status) {
  const auto command = std::make_shared<TraceHashCommand>();
  cli::Command parser = program.command(
      "trace-hash", "Print the hash of a trace file: the trace_hash of the run that wrote it");
  parser.option("FILE", command->path, "What --trace wrote").required();
  parser.action([command, &status] { status = run(*command); });
}

}  // namespace
}  // namespace canopy::tools

int main(int argc, char** argv) {
  canopy::tools::cli::CommandLine program(
      "canopy-sim",
      "Runs the protocol code of Canopy in a deterministic simulator: the same code as the\n"
      "daemon's, in virtual time and on a virtual network. The same seed gives the same run,\n"
      "down to its trace hash.");
  program.require_command();
  program.footer("canopy-sim COMMAND --help tells more of each.");
  int status = 0;
  canopy::tools::add_scenario_command(program, status);
  canopy::tools::add_ring_command(program, status);
  canopy::tools::add_scribe_command(program, status);
  canopy::tools::add_churn_command(program, status);
  canopy::tools::add_disaster_command(program, status);
  canopy::tools::add_fuzz_command(program, status);
  canopy::tools::add_trace_hash_command(program, status);
  if (const auto stop = program.parse_or_complain(argc, argv)) status = *stop;
  return canopy::tools::end_output("canopy-sim", status);
}
