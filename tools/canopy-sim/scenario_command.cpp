#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "canopy-sim/commands.hpp"
#include "canopy-sim/trace_file.hpp"
#include "common/read_file.hpp"
#include "sim/scenario_runner.hpp"

namespace canopy::tools {

namespace {

struct ScenarioArguments {
  std::string file;
  std::string trace;
  bool encode = false;
};

constexpr std::size_t scenario_bytes_max = std::size_t{64} << 20;

int fail_usage(const std::string& file, const std::string& what) {
  std::fprintf(stderr, "canopy-sim: %s: %s\n", file.c_str(), what.c_str());
  return 2;
}

int run(const ScenarioArguments& arguments) {
  sim::Scenario scenario;
  try {
    scenario = sim::parse_scenario(read_file(arguments.file, scenario_bytes_max));
  } catch (const std::runtime_error& error) {
    return fail_usage(arguments.file, error.what());
  }
  TraceFile trace(arguments.trace);
  if (!trace.open()) return 2;
  const sim::ScenarioOptions options{.encode = arguments.encode, .trace = trace.stream()};
  const auto result = sim::run_scenario(scenario, options, [](const std::string& line) {
    std::cout << line << '\n' << std::flush;
  });
  for (const auto& violation : result.violations) {
    std::fprintf(stderr, "canopy-sim: %s: %s\n", arguments.file.c_str(), violation.c_str());
  }
  return trace.close() && result.violations.empty() ? 0 : 1;
}

}  // namespace

void add_scenario_command(CLI::App& app, int& status) {
  const auto arguments = std::make_shared<ScenarioArguments>();
  CLI::App* command = app.add_subcommand(
      "scenario", "Run the steps of a scenario file; one JSON line each says what came of it");
  command->add_option("FILE", arguments->file, "A scenario in JSON, as in tests/data/scenarios/")
      ->required();
  command->add_option("--trace", arguments->trace,
                      "Write every message to this file: time_us from to type bytes");
  command->add_flag("--encode", arguments->encode, "Pass every message through the wire format");
  command->footer(
      "Exit status: 0 if all steps ran and routes and trees were sound, 1 if not,\n"
      "2 if FILE is no scenario.\n\n"
      "Example: canopy-sim scenario tests/data/scenarios/tree-64-build.json");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace canopy::tools
