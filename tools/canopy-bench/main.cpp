// canopy-bench: how fast parts of Canopy are on this machine.
#include "canopy-bench/commands.hpp"
#include "common/cli.hpp"
#include "common/standard_files.hpp"

int main(int argc, char** argv) {
  canopy::tools::keep_standard_files();
  canopy::tools::cli::CommandLine program(
      "canopy-bench", "Measures parts of Canopy on this machine, each beside what bounds it.");
  program.require_command();
  program.footer("canopy-bench COMMAND --help tells more of each.");
  int status = 0;
  canopy::tools::add_queue_command(program, status);
  canopy::tools::add_http_echo_command(program, status);
  canopy::tools::add_log_command(program, status);
  if (const auto stop = program.parse_or_complain(argc, argv)) status = *stop;
  return canopy::tools::end_output("canopy-bench", status);
}
