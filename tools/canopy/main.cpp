// `canopy`: the command line of a daemon.
#include <csignal>

#include "canopy/commands.hpp"
#include "canopy/output.hpp"
#include "common/standard_files.hpp"

namespace canopy::tools {

namespace {

int run_program(int argc, const char* const* argv) {
  try {
    const auto arguments = parse_arguments(argc, argv);
    if (!arguments) return 0;
    Client client(arguments->control);
    Context context{client, arguments->json, arguments->timeout};
    return std::visit([&](const auto& command) { return run(context, command); },
                      arguments->command);
  } catch (const OutputClosed&) {
    return 0;  // whoever read the output has seen enough
  } catch (const UsageError& error) {
    complain(error.what());
    return 2;
  } catch (const std::exception& error) {
    complain(error.what());
    return 1;
  }
}

}  // namespace

}  // namespace canopy::tools

int main(int argc, char** argv) {
  canopy::tools::keep_standard_files();
  std::signal(SIGPIPE, SIG_IGN);  // told by the write instead
  return canopy::tools::run_program(argc, argv);
}
