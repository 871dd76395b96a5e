#include "common/escaped.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace canopy::tools {

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = utf8_size(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    if (size > 0 && !is_control(character)) {
      out += character;
    } else if (character == "\n") {
      out += "\\n";
    } else if (character == "\t") {
      out += "\\t";
    } else if (character == "\r") {
      out += "\\r";
    } else {
      for (const char byte : character)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace canopy::tools
