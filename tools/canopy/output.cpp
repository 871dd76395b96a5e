#include "canopy/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/base64.hpp"
#include "base/text.hpp"

namespace canopy::tools {

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw OutputClosed();
    } else if (errno != EINTR) {
      throw Failure(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
  }
}

void print_line(std::string_view line) { print(std::string(line) + "\n"); }

void print_json(const boost::json::object& object) { print_line(boost::json::serialize(object)); }

void complain(std::string_view text) { std::cerr << fmt::format("canopy: {}\n", escaped(text)); }

void complain(const Failure& failure, bool json) {
  complain(failure.what());
  if (!json) return;
  boost::json::object error;
  if (failure.code() != 0) error["code"] = failure.code();
  if (!failure.queue_code().empty()) error["code"] = failure.queue_code();
  put_bytes(error, "message", failure.what());
  boost::json::object object;
  object["error"] = std::move(error);
  print_json(object);
}

namespace {

// Characters, as wide as most of them are.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (; !text.empty(); ++width) text.remove_prefix(std::max<std::size_t>(utf8_size(text), 1));
  return width;
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] - width_of(row[i]) + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

void put_bytes(boost::json::object& object, std::string_view key, std::string_view bytes) {
  if (is_utf8(bytes))
    object[key] = bytes;
  else
    object[std::string(key) + "_base64"] = to_base64(bytes);
}

}  // namespace canopy::tools
