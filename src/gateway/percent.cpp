#include "gateway/percent.hpp"

#include <optional>

#include "base/text.hpp"

namespace canopy::gateway {

namespace {

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// The byte of a %XX at the front.
std::optional<char> escape_at(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const auto high = hex_value(text[1]);
  const auto low = hex_value(text[2]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

}  // namespace

void percent_decode(std::string_view text, bool plus_is_space, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (const auto byte = escape_at(text.substr(i))) {
        out += *byte;
        i += 2;
        continue;
      }
    }
    out += text[i] == '+' && plus_is_space ? ' ' : text[i];
  }
}

void percent_encode(std::string_view text, bool keep_slash, std::string& out) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_unreserved(c) || (c == '/' && keep_slash)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
}

}  // namespace canopy::gateway
