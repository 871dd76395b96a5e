// canopy-sim: the overlay's protocol code in virtual time.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "canopy-sim/commands.hpp"

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
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "canopy-sim: %s\n", error.what());
    return 1;
  }
  return status;
}
