#include "base/id.hpp"

#include "base/sha1.hpp"
#include "base/text.hpp"

namespace canopy {

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

}  // namespace canopy
