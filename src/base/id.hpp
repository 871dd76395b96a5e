// 160-bit identifiers of the Pastry ring, for nodes, groups and keys.
//
// A shorter id space (the simulator's 16 or 32 bits) is the same type with the
// low bits zero: ring order, distances and digits come out the same, so no code
// needs to know the length. Digits are counted from the most significant one
// and have b bits, 1 <= b <= 8, b dividing the length of the id space in use.
// Plain values, safe from any thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace canopy {

class Id {
 public:
  static constexpr unsigned bits = 160;
  static constexpr std::size_t byte_count = bits / 8;
  using Bytes = std::array<std::uint8_t, byte_count>;

  constexpr Id() noexcept = default;
  static Id from_bytes(std::span<const std::uint8_t, byte_count> bytes) noexcept;

  // The hexadecimal form, most significant digit first; fewer than 40 digits
  // leave the low bits zero. Nothing if empty, too long or not hexadecimal.
  static std::optional<Id> from_hex(std::string_view hex) noexcept;

  // SHA-1 of a text (names, group names), cut to its first `length` bits.
  static Id hash_of(std::string_view text, unsigned length = bits);

  Bytes to_bytes() const noexcept;

  // Lower-case hexadecimal of the first `length` bits (a multiple of 4).
  std::string to_hex(unsigned length = bits) const;

  // Keeps the first `length` bits and clears the rest.
  Id truncated(unsigned length) const noexcept;

  // The digit at `index` (0 = most significant) for digits of b bits.
  unsigned digit(unsigned index, unsigned b) const noexcept;

  // This id with that digit replaced.
  Id with_digit(unsigned index, unsigned b, unsigned value) const noexcept;

  // Arithmetic modulo 2^160. a - b is the clockwise distance from b to a.
  friend Id operator+(const Id& a, const Id& b) noexcept;
  friend Id operator-(const Id& a, const Id& b) noexcept;

  friend constexpr bool operator==(const Id&, const Id&) noexcept = default;
  friend constexpr std::strong_ordering operator<=>(const Id&, const Id&) noexcept = default;

  // The most significant 64 bits: for hashing and density estimates.
  constexpr std::uint64_t high64() const noexcept {
    return std::uint64_t{words_[0]} << 32 | words_[1];
  }

 private:
  std::array<std::uint32_t, 5> words_{};  // most significant first
};

// Length in digits of b bits of the common prefix; Id::bits / b when equal.
unsigned shared_prefix_length(const Id& a, const Id& b_id, unsigned b) noexcept;

// min(a - b, b - a): the numerical distance on the ring.
Id ring_distance(const Id& a, const Id& b) noexcept;

// Whether `a` is numerically closer to `key` than `b`; a tie goes to the
// smaller id. This one rule decides roots everywhere.
bool closer_to(const Id& key, const Id& a, const Id& b) noexcept;

}  // namespace canopy

template <>
struct std::hash<canopy::Id> {
  std::size_t operator()(const canopy::Id& id) const noexcept { return id.high64(); }
};
