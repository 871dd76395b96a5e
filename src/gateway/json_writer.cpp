#include "gateway/json_writer.hpp"

#include <array>

namespace canopy::gateway {

namespace {

// What a character becomes after a backslash; 'u' for \u00XX; 0 if it stays.
constexpr std::array<char, 256> escapes = [] {
  std::array<char, 256> table{};
  for (std::size_t control = 0; control < 0x20; ++control) table[control] = 'u';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}();

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const char escape = escapes[byte];
    if (escape == 0) continue;
    out.append(text, written, i - written);
    written = i + 1;
    out += '\\';
    out += escape;
    if (escape == 'u') {
      out += "00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  out.append(text, written);
  out += '"';
}

}  // namespace canopy::gateway
