// The commands of canopy-sim. Each adds itself to the command line; the chosen
// one's exit status (0 done, 1 failed, 2 wrong usage or input) lands in `status`.
#pragma once

#include <CLI/CLI.hpp>

namespace canopy::tools {

void add_scenario_command(CLI::App& app, int& status);
void add_ring_command(CLI::App& app, int& status);
void add_fuzz_command(CLI::App& app, int& status);
void add_trace_hash_command(CLI::App& app, int& status);

}  // namespace canopy::tools
