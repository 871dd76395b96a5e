// `canopy`: the command line of a daemon.
#include <algorithm>
#include <csignal>
#include <string_view>

#include "canopy/commands.hpp"
#include "canopy/output.hpp"
#include "common/standard_files.hpp"

namespace canopy::tools {

namespace {

// Also where the command line is too wrong to be taken apart.
bool wants_json(int argc, const char* const* argv) {
  return std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
}

int run_command(int argc, const char* const* argv) {
  const auto arguments = parse_arguments(argc, argv);
  if (!arguments) return end_output("canopy", 0);
  if (const auto* token = std::get_if<TokenCommand>(&arguments->command))
    return run(*token, arguments->json);
  Client client(arguments->control);
  Context context{client, arguments->json, arguments->timeout};
  return std::visit(
      [&](const auto& command) {
        if constexpr (requires { run(context, command); }) return run(context, command);
        return 1;
      },
      arguments->command);
}

int fail(const Failure& failure, bool json, int status) {
  try {
    complain(failure, json);
  } catch (const Failure&) {
    // Standard output takes nothing; standard error has it.
  } catch (const OutputClosed&) {
  }
  return status;
}

int run_program(int argc, const char* const* argv) {
  const bool json = wants_json(argc, argv);
  try {
    return run_command(argc, argv);
  } catch (const OutputClosed&) {
    return 0;  // whoever read the output has seen enough
  } catch (const UsageError& error) {
    return fail(error, json, 2);
  } catch (const Failure& error) {
    return fail(error, json, 1);
  } catch (const std::exception& error) {
    return fail(Failure(error.what()), json, 1);
  }
}

}  // namespace

}  // namespace canopy::tools

int main(int argc, char** argv) {
  canopy::tools::keep_standard_files();
  std::signal(SIGPIPE, SIG_IGN);  // told by the write instead
  return canopy::tools::run_program(argc, argv);
}
