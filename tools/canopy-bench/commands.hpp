// The commands of canopy-bench. Each adds itself to the command line; the chosen
// one's exit status (0 done, 1 failed, 2 wrong usage or input) lands in `status`.
#pragma once

#include "common/cli.hpp"

namespace canopy::tools {

void add_log_command(cli::Command program, int& status);
void add_queue_command(cli::Command program, int& status);
void add_http_echo_command(cli::Command program, int& status);

}  // namespace canopy::tools
