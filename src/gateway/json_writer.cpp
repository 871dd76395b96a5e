#include "gateway/json_writer.hpp"

#include <array>
#include <cstdint>
#include <cstring>

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

constexpr std::size_t word_size = sizeof(std::uint64_t);

// Whether one of eight characters has to be escaped: is below a space, a quote or
// a backslash. Borrows reach into the next byte only from one that is.
bool any_escaped(const char* characters) {
  constexpr std::uint64_t each = 0x0101'0101'0101'0101U;
  std::uint64_t word = 0;
  std::memcpy(&word, characters, word_size);
  const std::uint64_t quote = word ^ each * '"';
  const std::uint64_t backslash = word ^ each * '\\';
  const std::uint64_t found =
      ((word - each * ' ') & ~word) | ((quote - each) & ~quote) | ((backslash - each) & ~backslash);
  return (found & each * 0x80) != 0;
}

// The first character at `at` or behind that has to be; else the text's size.
std::size_t find_escaped(std::string_view text, std::size_t at) {
  while (text.size() - at >= word_size && !any_escaped(text.data() + at)) at += word_size;
  while (at < text.size() && escapes[static_cast<unsigned char>(text[at])] == 0) ++at;
  return at;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  std::size_t written = 0;
  for (std::size_t i = find_escaped(text, 0); i < text.size(); i = find_escaped(text, i + 1)) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const char escape = escapes[byte];
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
