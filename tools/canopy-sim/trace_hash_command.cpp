#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "canopy-sim/commands.hpp"
#include "sim/trace.hpp"

namespace canopy::tools {

namespace {

// Others have no end, or none that is a trace's.
bool may_be_trace(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  return type == std::filesystem::file_type::regular || type == std::filesystem::file_type::fifo;
}

}  // namespace

int run(const TraceHashCommand& command) {
  std::ifstream file;
  if (may_be_trace(command.path)) file.open(command.path);
  std::string error;
  const auto hash = file.is_open() ? sim::Trace::hash_of_text(file, error) : std::nullopt;
  if (!file.is_open() || file.bad()) {
    std::fprintf(stderr, "canopy-sim: %s: cannot be read\n", command.path.c_str());
    return 2;
  }
  if (!hash) {
    std::fprintf(stderr, "canopy-sim: %s: %s\n", command.path.c_str(), error.c_str());
    return 2;
  }
  std::printf("%016" PRIx64 "\n", *hash);
  return 0;
}

}  // namespace canopy::tools
