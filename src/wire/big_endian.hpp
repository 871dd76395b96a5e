// Unsigned integers as bytes, most significant first, at any address.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace canopy::wire {

template <std::unsigned_integral T>
T load_big_endian(const char* from) noexcept {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value << 8 | static_cast<std::uint8_t>(from[i]));
  }
  return value;
}

template <std::unsigned_integral T>
void store_big_endian(char* to, T value) noexcept {
  for (std::size_t i = sizeof(T); i-- > 0;) {
    to[i] = static_cast<char>(value & 0xff);
    value = static_cast<T>(value >> 8);
  }
}

}  // namespace canopy::wire
