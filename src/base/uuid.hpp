// 128-bit unique identifiers (RFC 4122), for clusters and data directories.
// Plain values, safe from any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace canopy {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  // A version 4 UUID of 128 random bits, of which it keeps 122. They have to
  // come from the operating system where uniqueness matters.
  static Uuid from_random_bits(std::uint64_t high, std::uint64_t low) noexcept;

  // The form of to_string(), in either case; nothing for any other text.
  static std::optional<Uuid> parse(std::string_view text) noexcept;

  // 8-4-4-4-12 lower-case hexadecimal digits.
  std::string to_string() const;

  // All zero: "none".
  bool is_nil() const noexcept { return *this == Uuid{}; }

  friend auto operator<=>(const Uuid&, const Uuid&) noexcept = default;
};

}  // namespace canopy
