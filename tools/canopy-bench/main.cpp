// canopy-bench: how fast parts of Canopy are on this machine.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "canopy-bench/commands.hpp"
#include "common/command_line.hpp"
#include "common/escaped.hpp"
#include "common/standard_files.hpp"

int main(int argc, char** argv) {
  canopy::tools::keep_standard_files();
  CLI::App app("Measures parts of Canopy on this machine, each beside what bounds it.");
  app.name("canopy-bench");
  app.set_version_flag("--version", "canopy-bench " CANOPY_VERSION);
  app.require_subcommand(1);
  app.footer("canopy-bench COMMAND --help tells more of each.");
  int status = 0;
  canopy::tools::add_queue_command(app, status);
  canopy::tools::add_http_echo_command(app, status);
  canopy::tools::add_log_command(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = canopy::tools::report(app, error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "canopy-bench: %s\n", canopy::tools::escaped(error.what()).c_str());
    return 1;
  }
  return canopy::tools::end_output("canopy-bench", status);
}
