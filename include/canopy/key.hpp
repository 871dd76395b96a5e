// A point on the ring: the 160-bit id of a peer or a group, or a key to route.
// A plain value, safe from any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace canopy {

struct Key {
  std::array<std::uint8_t, 20> bytes{};  // most significant first

  // SHA-1 of a text: where a peer or an object of that name lies.
  static Key of(std::string_view text);

  // Up to 40 hexadecimal digits, most significant first; missing ones are zero.
  // Nothing if empty, too long or not hexadecimal.
  static std::optional<Key> from_hex(std::string_view hex) noexcept;

  // 40 lower-case hexadecimal digits.
  std::string to_hex() const;

  friend constexpr bool operator==(const Key&, const Key&) noexcept = default;
  friend constexpr std::strong_ordering operator<=>(const Key&, const Key&) noexcept = default;
};

}  // namespace canopy
