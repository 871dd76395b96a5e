// canopy-sim: the overlay's protocol code in virtual time.
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "canopy-sim/commands.hpp"
#include "common/escaped.hpp"
#include "common/standard_files.hpp"

namespace {

// Prints what was asked for, or what is wrong; the exit status.
int report(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::Success*>(&error) != nullptr) return app.exit(error);
  const auto commands = app.get_subcommands();
  const auto unknown = app.remaining();
  const std::string command = commands.empty() ? "" : commands.front()->get_name() + " ";
  const std::string problem =
      commands.empty() && !unknown.empty() ? "no command '" + unknown.front() + "'" : error.what();
  std::fprintf(stderr, "canopy-sim: %s: canopy-sim %s--help shows how\n",
               canopy::tools::escaped(problem).c_str(), command.c_str());
  return 2;
}

}  // namespace

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
    status = report(app, error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "canopy-sim: %s\n", canopy::tools::escaped(error.what()).c_str());
    return 1;
  }
  return canopy::tools::end_output("canopy-sim", status);
}
