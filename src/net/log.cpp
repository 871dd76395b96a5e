#include "net/log.hpp"

#include <spdlog/spdlog.h>

namespace canopy::log {

void write(spdlog::level::level_enum level, fmt::string_view format, fmt::format_args args) {
  if (spdlog::should_log(level)) spdlog::log(level, fmt::vformat(format, args));
}

}  // namespace canopy::log
