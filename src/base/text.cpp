#include "base/text.hpp"

#include <cstdint>

namespace canopy {

namespace {

// A lead byte's sequence: bytes to follow, and the range of the first of them,
// which excludes overlong forms, surrogates and what lies beyond U+10FFFF.
struct Sequence {
  unsigned following;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xbf;
};

std::optional<Sequence> sequence_of(std::uint8_t lead) noexcept {
  if (lead >= 0xc2 && lead <= 0xdf) return Sequence{1};
  if (lead == 0xe0) return Sequence{2, 0xa0, 0xbf};
  if (lead == 0xed) return Sequence{2, 0x80, 0x9f};
  if (lead >= 0xe1 && lead <= 0xef) return Sequence{2};
  if (lead == 0xf0) return Sequence{3, 0x90, 0xbf};
  if (lead >= 0xf1 && lead <= 0xf3) return Sequence{3};
  if (lead == 0xf4) return Sequence{3, 0x80, 0x8f};
  return std::nullopt;
}

std::uint8_t byte_at(std::string_view text, std::size_t index) noexcept {
  return static_cast<std::uint8_t>(text[index]);
}

}  // namespace

std::size_t utf8_size(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const std::uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  const auto sequence = sequence_of(lead);
  if (!sequence || text.size() <= sequence->following) return 0;
  const std::uint8_t second = byte_at(text, 1);
  if (second < sequence->low || second > sequence->high) return 0;
  for (unsigned k = 2; k <= sequence->following; ++k) {
    if ((byte_at(text, k) & 0xc0) != 0x80) return 0;
  }
  return 1 + sequence->following;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = utf8_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool is_control(std::string_view character) noexcept {
  const std::uint8_t lead = byte_at(character, 0);
  if (lead == 0xc2) return byte_at(character, 1) < 0xa0;  // C1
  return lead < 0x20 || lead == 0x7f;
}

bool is_printable(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = utf8_size(text);
    if (size == 0 || is_control(text.substr(0, size))) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool is_valid_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= max_name_size && is_printable(name);
}

std::optional<unsigned> hex_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex(2 * bytes.size(), '\0');
  char* out = hex.data();
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    *out++ = digits[byte >> 4];
    *out++ = digits[byte & 0x0f];
  }
  return hex;
}

}  // namespace canopy
