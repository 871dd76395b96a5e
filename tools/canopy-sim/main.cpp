// canopy-sim: the overlay's protocol code in virtual time.
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>

#include "canopy-sim/commands.hpp"
#include "common/cli.hpp"
#include "common/standard_files.hpp"

namespace canopy::tools {
namespace {

template <class Number>
struct Range {
  Number min;
  Number max;
};

// The option of a number. CLI11 by itself takes -1 for the largest number that there is, 010 for
// eight, and nan for a positive one.
template <class Number>
cli::Option add_number(cli::Command command, const std::string& name, Number& value,
                       Range<std::type_identity_t<Number>> range, const std::string& help) {
  const auto read = [&value, range](const std::string& text) {
    const char* const end = text.data() + text.size();
    Number number{};
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool within = number >= range.min && number <= range.max;  // nan is not
    if (error != std::errc() || stop != end || !within)
      return fmt::format("'{}' is no number from {} to {}", text, range.min, range.max);
    value = number;
    return std::string();
  };
  return command.option_read_by(name, read, help).value_name("N");
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
  add_number(parser, "--nodes", options.nodes, {1, 2'000'000}, "How many nodes join")
      .show_default(fmt::format("{}", options.nodes));
  add_number(parser, "--seed", options.seed, {0, UINT64_MAX}, "The same seed gives the same run")
      .show_default(fmt::format("{}", options.seed));
  add_number(parser, "--join-rate", options.join_rate, {0.001, 1'000'000},
             "Joins a second once the ring has grown to ten times as many nodes; until\n"
             "then a tenth of its nodes (default: nodes / 300)");
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

void add_fuzz_command(cli::Command program, int& status) {
  const auto command = std::make_shared<FuzzCommand>();
  cli::Command parser = program.command(
      "fuzz", "Run random schedules of every fault and check that the ring comes right again");
  parser.option("--seeds", command->seeds, "One schedule a seed: A..B, both included").required();
  parser.flag("--twice", command->twice, "Run each seed twice and compare trace hashes");
  parser.flag("--hashes", command->hashes, "Print each seed's trace hash");
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
  canopy::tools::add_fuzz_command(program, status);
  canopy::tools::add_trace_hash_command(program, status);
  if (const auto stop = program.parse_or_complain(argc, argv)) status = *stop;
  return canopy::tools::end_output("canopy-sim", status);
}
