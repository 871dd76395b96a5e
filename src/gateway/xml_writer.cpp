#include "gateway/xml_writer.hpp"

#include "base/text.hpp"

namespace canopy::gateway {

namespace {

// How a character is written; empty: as it is.
std::string_view replacement_of(std::string_view character) {
  constexpr std::string_view not_a_character = "\xEF\xBF\xBD";
  if (character.size() == 1) {
    switch (character[0]) {
      case '&': return "&amp;";
      case '<': return "&lt;";
      case '>': return "&gt;";
      case '"': return "&quot;";
      case '\r': return "&#xd;";
      case '\t':
      case '\n': return {};
      default: return character[0] >= 0x20 ? std::string_view() : not_a_character;
    }
  }
  const bool noncharacter = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
  return noncharacter ? not_a_character : std::string_view();
}

bool is_plain(char c) { return c >= 0x20 && c != '&' && c != '<' && c != '>' && c != '"'; }

}  // namespace

void append_xml_text(std::string& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const std::size_t size = utf8_size(text);
    const std::string_view character = text.substr(0, size == 0 ? 1 : size);
    const std::string_view replacement = size == 0 ? "\xEF\xBF\xBD" : replacement_of(character);
    out.append(replacement.empty() ? character : replacement);
    text.remove_prefix(character.size());
  }
}

}  // namespace canopy::gateway
