// Lines of the program's log: spdlog's default logger behind one compiled
// function, as spdlog's own templates compile all of fmt wherever a line is
// logged. From any thread.
#pragma once

#include <fmt/core.h>
#include <spdlog/common.h>

namespace canopy::log {

void write(spdlog::level::level_enum level, fmt::string_view format, fmt::format_args args);

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(spdlog::level::debug, format, fmt::make_format_args(args...));
}

template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(spdlog::level::info, format, fmt::make_format_args(args...));
}

template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(spdlog::level::warn, format, fmt::make_format_args(args...));
}

template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(spdlog::level::err, format, fmt::make_format_args(args...));
}

}  // namespace canopy::log
