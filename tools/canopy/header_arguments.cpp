#include "canopy/header_arguments.hpp"

#include <fmt/format.h>

#include "canopy/failure.hpp"

namespace canopy::tools {

namespace {

// A key's size is one byte of the content, a value's two (wire/content.hpp).
constexpr std::size_t header_key_bytes_max = 0xff;
constexpr std::size_t header_value_bytes_max = 0xffff;

void check_headers(const std::string& command, const wire::Headers& headers) {
  if (headers.size() > wire::max_content_headers)
    throw UsageError(fmt::format("{}: {} headers are too many: a message has up to {}", command,
                                 headers.size(), wire::max_content_headers));
  std::size_t bytes = 0;
  for (const auto& [key, value] : headers) {
    if (key.size() > header_key_bytes_max)
      throw UsageError(fmt::format("{}: a header's key of {} bytes is too long: it has up to {}",
                                   command, key.size(), header_key_bytes_max));
    bytes += key.size() + value.size();
    if (value.size() > header_value_bytes_max || bytes > wire::max_content_header_bytes)
      throw UsageError(
          fmt::format("{}: the headers are too long: one's value has up to {} bytes, all keys and "
                      "values of a message up to {}",
                      command, header_value_bytes_max, wire::max_content_header_bytes));
  }
}

}  // namespace

wire::Headers parse_headers(const std::string& command, const std::vector<std::string>& words) {
  wire::Headers headers;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw UsageError(fmt::format("{}: --header '{}' is not KEY=VALUE", command, word));
    headers.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  check_headers(command, headers);
  return headers;
}

}  // namespace canopy::tools
