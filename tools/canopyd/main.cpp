// canopyd: one peer of a Canopy cluster, as a daemon.
#include <iostream>

#include <malloc.h>

#include "common/command_line.hpp"
#include "common/escaped.hpp"
#include "common/short_slices.hpp"
#include "common/standard_files.hpp"
#include "node/daemon.hpp"
#include "node/gateway_options.hpp"
#include "node/store_check.hpp"

namespace {

constexpr const char* summary =
    "canopyd runs one peer of a Canopy cluster.\n"
    "Without --join it founds a cluster, unless its data directory belongs to one already.";

constexpr const char* examples =
    "Examples:\n"
    "  canopyd --name a --listen 10.0.0.1:7400 --data /var/lib/canopy\n"
    "  canopyd --name b --listen 10.0.0.2:7400 --join 10.0.0.1:7400\n"
    "  canopyd --gateway 127.0.0.1:9324 --allow-anonymous --data /var/lib/canopy\n";

// What cannot be told without files is looked at, too.
int check_config(const canopy::OptionTable& table, const canopy::node::DaemonSettings& settings) {
  std::string problem;
  if (settings.gateway.listen)
    problem =
        canopy::node::problem_with_files(to_gateway_options(settings.gateway), settings.cluster);
  if (problem.empty())
    std::cout << table.effective_toml();
  else
    std::cerr << "canopyd: " << canopy::tools::escaped(problem) << "\n";
  return canopy::tools::end_output("canopyd", problem.empty() ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  canopy::tools::keep_standard_files();
  // A message passes several threads, each of which has to wake up for it.
  canopy::tools::ask_for_short_slices();
  canopy::node::DaemonSettings settings;
  canopy::OptionTable table("canopyd");
  canopy::node::declare_options(table, settings);
  if (auto status = canopy::tools::read_command_line(table, {summary, examples}, argc, argv))
    return canopy::tools::end_output("canopyd", *status);
  if (settings.check_config) return check_config(table, settings);
  if (!settings.check_store.empty()) {
    const auto check = canopy::node::check_store(settings.check_store, settings.json);
    std::cout << check.text;
    return canopy::tools::end_output("canopyd", check.status);
  }
  // The overlay makes few allocations at a time: arenas would only cost memory. A gateway's
  // threads hand over what others free.
  ::mallopt(M_ARENA_MAX, settings.gateway.listen ? 4 : 1);
  return canopy::node::run_daemon(settings);
}
