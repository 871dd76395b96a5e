#include "base/id.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"
#include "base/sha1.hpp"

namespace canopy {

namespace {

std::optional<unsigned> hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

}  // namespace

Id Id::from_bytes(std::span<const std::uint8_t, byte_count> bytes) noexcept {
  Id id;
  for (std::size_t i = 0; i < byte_count; ++i) {
    id.words_[i / 4] = id.words_[i / 4] << 8 | bytes[i];
  }
  return id;
}

std::optional<Id> Id::from_hex(std::string_view hex) noexcept {
  if (hex.empty() || hex.size() > bits / 4) return std::nullopt;
  Id id;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const auto value = hex_value(hex[i]);
    if (!value) return std::nullopt;
    id.words_[i / 8] |= *value << (28 - 4 * (i % 8));
  }
  return id;
}

Id Id::hash_of(std::string_view text, unsigned length) {
  return from_bytes(sha1(text)).truncated(length);
}

Id::Bytes Id::to_bytes() const noexcept {
  Bytes bytes;
  for (std::size_t i = 0; i < byte_count; ++i) {
    bytes[i] = static_cast<std::uint8_t>(words_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return bytes;
}

std::string Id::to_hex(unsigned length) const {
  CANOPY_ASSERT(length % 4 == 0 && length <= bits);
  std::string hex;
  hex.reserve(length / 4);
  for (unsigned i = 0; i < length / 4; ++i) hex.push_back("0123456789abcdef"[digit(i, 4)]);
  return hex;
}

Id Id::truncated(unsigned length) const noexcept {
  CANOPY_ASSERT(length <= bits);
  Id id = *this;
  for (unsigned word = 0; word < 5; ++word) {
    const unsigned start = word * 32;
    if (length <= start) {
      id.words_[word] = 0;
    } else if (length < start + 32) {
      id.words_[word] &= ~std::uint32_t{0} << (start + 32 - length);
    }
  }
  return id;
}

unsigned Id::digit(unsigned index, unsigned b) const noexcept {
  const unsigned first = index * b;
  CANOPY_ASSERT(b >= 1 && b <= 8 && first + b <= bits);
  const unsigned word = first / 32;
  const std::uint64_t pair =
      std::uint64_t{words_[word]} << 32 | (word + 1 < 5 ? words_[word + 1] : 0);
  return static_cast<unsigned>(pair >> (64 - first % 32 - b)) & ((1U << b) - 1);
}

Id Id::with_digit(unsigned index, unsigned b, unsigned value) const noexcept {
  CANOPY_ASSERT(b >= 1 && b <= 8 && index * b + b <= bits && value < 1U << b);
  Id id = *this;
  for (unsigned i = 0; i < b; ++i) {
    const unsigned position = index * b + i;
    const std::uint32_t mask = 1U << (31 - position % 32);
    const bool set = (value >> (b - 1 - i) & 1U) != 0;
    auto& word = id.words_[position / 32];
    word = set ? word | mask : word & ~mask;
  }
  return id;
}

Id operator+(const Id& a, const Id& b) noexcept {
  Id sum;
  std::uint64_t carry = 0;
  for (std::size_t i = 5; i-- > 0;) {
    carry += std::uint64_t{a.words_[i]} + b.words_[i];
    sum.words_[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return sum;
}

Id operator-(const Id& a, const Id& b) noexcept {
  Id difference;
  std::uint64_t borrow = 0;
  for (std::size_t i = 5; i-- > 0;) {
    const std::uint64_t word = std::uint64_t{a.words_[i]} - b.words_[i] - borrow;
    difference.words_[i] = static_cast<std::uint32_t>(word);
    borrow = word >> 63;
  }
  return difference;
}

unsigned shared_prefix_length(const Id& a, const Id& b_id, unsigned b) noexcept {
  CANOPY_ASSERT(b >= 1 && b <= 8);
  const Id::Bytes left = a.to_bytes();
  const Id::Bytes right = b_id.to_bytes();
  for (unsigned i = 0; i < Id::byte_count; ++i) {
    const auto difference = static_cast<std::uint8_t>(left[i] ^ right[i]);
    if (difference != 0) {
      return (8 * i + static_cast<unsigned>(std::countl_zero(difference))) / b;
    }
  }
  return Id::bits / b;
}

Id ring_distance(const Id& a, const Id& b) noexcept { return std::min(a - b, b - a); }

bool closer_to(const Id& key, const Id& a, const Id& b) noexcept {
  const auto order = ring_distance(a, key) <=> ring_distance(b, key);
  return order != 0 ? order < 0 : a < b;
}

}  // namespace canopy
