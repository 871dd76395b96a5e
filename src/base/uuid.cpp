#include "base/uuid.hpp"

#include "base/text.hpp"

namespace canopy {

namespace {

constexpr std::size_t text_size = 36;

constexpr bool is_dash_position(std::size_t position) noexcept {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

}  // namespace

Uuid Uuid::from_random_bits(std::uint64_t high, std::uint64_t low) noexcept {
  Uuid uuid;
  for (std::size_t i = 0; i < 8; ++i) {
    uuid.bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    uuid.bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0f) | 0x40);  // version 4
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);  // RFC 4122 variant
  return uuid;
}

std::optional<Uuid> Uuid::parse(std::string_view text) noexcept {
  if (text.size() != text_size) return std::nullopt;
  Uuid uuid;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_position(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const auto value = hex_value(text[i]);
    if (!value) return std::nullopt;
    auto& byte = uuid.bytes[digits++ / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | *value);
  }
  return uuid;
}

std::string Uuid::to_string() const {
  const std::string hex = to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::string text(text_size, '-');
  char* out = text.data();
  std::size_t begin = 0;
  for (const std::size_t size : {8, 4, 4, 4, 12}) {
    hex.copy(out, size, begin);
    out += size + 1;
    begin += size;
  }
  return text;
}

}  // namespace canopy
