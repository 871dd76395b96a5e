// canopy-sim: the overlay's protocol code in virtual time.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "canopy-sim/commands.hpp"
#include "common/command_line.hpp"
#include "common/escaped.hpp"
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
CLI::Option* add_number(CLI::App& app, const std::string& name, Number& value,
                        Range<std::type_identity_t<Number>> range, const std::string& help) {
  const auto parse = [&value, name, range](const CLI::results_t& texts) {
    const std::string& text = texts.front();
    const char* const end = text.data() + text.size();
    Number number{};
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool within = number >= range.min && number <= range.max;  // nan is not
    if (error != std::errc() || stop != end || !within) {
      throw CLI::ValidationError(
          name, fmt::format("'{}' is no number from {} to {}", text, range.min, range.max));
    }
    value = number;
    return true;
  };
  return app.add_option(name, parse, help)->type_name("N");
}

// Each of these adds a command to the command line; when it is the chosen one, `status` becomes
// its exit status.

void add_scenario_command(CLI::App& app, int& status) {
  const auto command = std::make_shared<ScenarioCommand>();
  CLI::App* parser = app.add_subcommand(
      "scenario", "Run the steps of a scenario file; one JSON line each says what came of it");
  parser->add_option("FILE", command->file, "A scenario in JSON, as in tests/data/scenarios/")
      ->required();
  parser->add_option("--trace", command->trace,
                     "Write every message to this file: time_us from to type bytes");
  parser->add_flag("--encode", command->encode, "Pass every message through the wire format");
  parser->footer(
      "Exit status: 0 if all steps ran and routes and trees were sound, 1 if not,\n"
      "2 if FILE is no scenario.\n\n"
      "Example: canopy-sim scenario tests/data/scenarios/tree-64-build.json");
  parser->callback([command, &status] { status = run(*command); });
}

void add_ring_command(CLI::App& app, int& status) {
  const auto command = std::make_shared<RingCommand>();
  CLI::App* parser = app.add_subcommand(
      "ring", "Grow a ring by the join protocol, check it, and measure hops, delay and cost");
  sim::RingOptions& options = command->options;
  add_number(*parser, "--nodes", options.nodes, {1, 2'000'000}, "How many nodes join")
      ->default_str(fmt::format("{}", options.nodes));
  add_number(*parser, "--seed", options.seed, {0, UINT64_MAX}, "The same seed gives the same run")
      ->default_str(fmt::format("{}", options.seed));
  add_number(*parser, "--join-rate", options.join_rate, {0.001, 1'000'000},
             "Joins a second once the ring has grown to ten times as many nodes; until\n"
             "then a tenth of its nodes (default: nodes / 300)");
  parser->add_flag("--json", command->json, "Print one JSON object instead of a table");
  parser->add_option("--trace", command->trace,
                     "Write every message to this file: time_us from to type bytes");
  parser->add_flag("--encode", options.encode, "Pass every message through the wire format");
  parser->footer(
      "Nodes live on a transit-stub internet of 5,050 routers and use the WAN profile.\n"
      "Delay stretch is the delay along the hops over the direct one. The same lookups\n"
      "are made again in the same ring with ideal tables, for comparison.\n"
      "Exit status: 0 if every leaf set is exact and every lookup was delivered by the\n"
      "closest node, 1 if not, 2 for wrong usage.\n\n"
      "Example: canopy-sim ring --nodes 10000 --seed 7");
  parser->callback([command, &status] { status = run(*command); });
}

void add_fuzz_command(CLI::App& app, int& status) {
  const auto command = std::make_shared<FuzzCommand>();
  CLI::App* parser = app.add_subcommand(
      "fuzz", "Run random schedules of every fault and check that the ring comes right again");
  parser->add_option("--seeds", command->seeds, "One schedule a seed: A..B, both included")
      ->required();
  parser->add_flag("--twice", command->twice, "Run each seed twice and compare trace hashes");
  parser->add_flag("--hashes", command->hashes, "Print each seed's trace hash");
  parser->add_flag("--encode", command->encode, "Pass every message through the wire format");
  parser->add_flag("--json", command->json, "Print one JSON object at the end");
  parser->add_option("--trace", command->trace, "Write every message of the one seed to this file");
  parser->footer(
      "Stops at the first seed with a finding and prints it with the command line that\n"
      "runs it again. Exit status: 0 no finding, 1 a finding, 2 wrong usage.\n\n"
      "Example: canopy-sim fuzz --seeds 1..100 --twice");
  parser->callback([command, &status] { status = run(*command); });
}

void add_trace_hash_command(CLI::App& app, int& status) {
  const auto command = std::make_shared<TraceHashCommand>();
  CLI::App* parser = app.add_subcommand(
      "trace-hash", "Print the hash of a trace file: the trace_hash of the run that wrote it");
  parser->add_option("FILE", command->path, "What --trace wrote")->required();
  parser->callback([command, &status] { status = run(*command); });
}

}  // namespace
}  // namespace canopy::tools

int main(int argc, char** argv) {
  CLI::App app(
      "Runs the protocol code of Canopy in a deterministic simulator: the same code as the\n"
      "daemon's, in virtual time and on a virtual network. The same seed gives the same run,\n"
      "down to its trace hash.");
  app.name("canopy-sim");
  app.set_version_flag("--version", "canopy-sim " CANOPY_VERSION);
  app.require_subcommand(1);
  app.footer("canopy-sim COMMAND --help tells more of each.");
  int status = 0;
  canopy::tools::add_scenario_command(app, status);
  canopy::tools::add_ring_command(app, status);
  canopy::tools::add_fuzz_command(app, status);
  canopy::tools::add_trace_hash_command(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = canopy::tools::report(app, error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "canopy-sim: %s\n", canopy::tools::escaped(error.what()).c_str());
    return 1;
  }
  return canopy::tools::end_output("canopy-sim", status);
}
