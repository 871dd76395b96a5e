#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>

#include "canopy-sim/commands.hpp"
#include "canopy-sim/trace_file.hpp"
#include "common/read_file.hpp"
#include "sim/scenario_runner.hpp"

namespace canopy::tools {

namespace {

constexpr std::size_t scenario_bytes_max = std::size_t{64} << 20;

int fail_usage(const std::string& file, const std::string& what) {
  std::fprintf(stderr, "canopy-sim: %s: %s\n", file.c_str(), what.c_str());
  return 2;
}

}  // namespace

int run(const ScenarioCommand& command) {
  sim::Scenario scenario;
  try {
    scenario = sim::parse_scenario(read_file(command.file, scenario_bytes_max));
  } catch (const std::runtime_error& error) {
    return fail_usage(command.file, error.what());
  }
  TraceFile trace(command.trace);
  if (!trace.open()) return 2;
  const sim::ScenarioOptions options{.encode = command.encode, .trace = trace.stream()};
  const auto result = sim::run_scenario(scenario, options, [](const std::string& line) {
    std::cout << line << '\n' << std::flush;
  });
  for (const auto& violation : result.violations) {
    std::fprintf(stderr, "canopy-sim: %s: %s\n", command.file.c_str(), violation.c_str());
  }
  return trace.close() && result.violations.empty() ? 0 : 1;
}

}  // namespace canopy::tools
