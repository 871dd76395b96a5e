// 160-bit identifiers of the Pastry ring, for nodes, groups and keys.
//
// A shorter id space (the simulator's 16 or 32 bits) is the same type with the
// low bits zero: ring order, distances and digits come out the same, so no code
// needs to know the length. Digits are counted from the most significant one
// and have b bits, 1 <= b <= 8, b dividing the length of the id space in use.
// Plain values, safe from any thread.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/assert.hpp"

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
  constexpr unsigned digit(unsigned index, unsigned b) const noexcept {
    const unsigned first = index * b;
    CANOPY_ASSERT(b >= 1 && b <= 8 && first + b <= bits);
    const unsigned word = first / 32;
    const std::uint64_t pair =
        std::uint64_t{words_[word]} << 32 | (word + 1 < words_.size() ? words_[word + 1] : 0);
    return static_cast<unsigned>(pair >> (64 - first % 32 - b)) & ((1U << b) - 1);
  }

  // This id with that digit replaced.
  Id with_digit(unsigned index, unsigned b, unsigned value) const noexcept;

  // Arithmetic modulo 2^160. a - b is the clockwise distance from b to a.
  friend constexpr Id operator+(const Id& a, const Id& b) noexcept {
    const std::uint64_t low = std::uint64_t{a.words_[4]} + b.words_[4];
    const std::uint64_t middle = a.middle64() + b.middle64();
    const bool carry = middle < a.middle64();
    const std::uint64_t carried = middle + (low >> 32);
    return Id(a.high64() + b.high64() + carry + (carried < middle), carried,
              static_cast<std::uint32_t>(low));
  }
  friend constexpr Id operator-(const Id& a, const Id& b) noexcept {
    const bool low_borrow = a.words_[4] < b.words_[4];
    const std::uint64_t middle = a.middle64() - b.middle64();
    const bool borrow = a.middle64() < b.middle64() || (low_borrow && middle == 0);
    return Id(a.high64() - b.high64() - borrow, middle - low_borrow, a.words_[4] - b.words_[4]);
  }

  friend constexpr bool operator==(const Id& a, const Id& b) noexcept {
    return a.high64() == b.high64() && a.middle64() == b.middle64() && a.words_[4] == b.words_[4];
  }
  friend constexpr std::strong_ordering operator<=>(const Id& a, const Id& b) noexcept {
    if (a.high64() != b.high64()) return a.high64() <=> b.high64();
    if (a.middle64() != b.middle64()) return a.middle64() <=> b.middle64();
    return a.words_[4] <=> b.words_[4];
  }

  // The most significant 64 bits: for hashing and density estimates.
  constexpr std::uint64_t high64() const noexcept {
    return std::uint64_t{words_[0]} << 32 | words_[1];
  }

 private:
  constexpr Id(std::uint64_t high, std::uint64_t middle, std::uint32_t low) noexcept
      : words_{static_cast<std::uint32_t>(high >> 32), static_cast<std::uint32_t>(high),
               static_cast<std::uint32_t>(middle >> 32), static_cast<std::uint32_t>(middle), low} {}

  constexpr std::uint64_t middle64() const noexcept {
    return std::uint64_t{words_[2]} << 32 | words_[3];
  }

  friend constexpr unsigned shared_prefix_length(const Id& a, const Id& b,
                                                 unsigned digit_bits) noexcept;
  friend constexpr Id ring_distance(const Id& a, const Id& b) noexcept;

  std::array<std::uint32_t, 5> words_{};  // most significant first
};

// Length in digits of `digit_bits` bits of the common prefix; that of an id
// when equal.
constexpr unsigned shared_prefix_length(const Id& a, const Id& b, unsigned digit_bits) noexcept {
  CANOPY_ASSERT(digit_bits >= 1 && digit_bits <= 8);
  unsigned same = 0;
  if (const std::uint64_t high = a.high64() ^ b.high64(); high != 0) {
    same = static_cast<unsigned>(std::countl_zero(high));
  } else if (const std::uint64_t middle = a.middle64() ^ b.middle64(); middle != 0) {
    same = 64 + static_cast<unsigned>(std::countl_zero(middle));
  } else {
    same = 128 + static_cast<unsigned>(std::countl_zero(a.words_[4] ^ b.words_[4]));
  }
  return same / digit_bits;
}

// min(a - b, b - a): the numerical distance on the ring.
constexpr Id ring_distance(const Id& a, const Id& b) noexcept {
  const Id clockwise = a - b;
  const bool beyond_half = clockwise.words_[0] >> 31 != 0;
  return beyond_half ? Id() - clockwise : clockwise;
}

// Whether `a` is numerically closer to `key` than `b`; a tie goes to the
// smaller id. This one rule decides roots everywhere.
constexpr bool closer_to(const Id& key, const Id& a, const Id& b) noexcept {
  const auto order = ring_distance(a, key) <=> ring_distance(b, key);
  return order != 0 ? order < 0 : a < b;
}

}  // namespace canopy

template <>
struct std::hash<canopy::Id> {
  std::size_t operator()(const canopy::Id& id) const noexcept { return id.high64(); }
};
