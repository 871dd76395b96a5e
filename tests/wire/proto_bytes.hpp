// Protobuf's wire format by hand, for headers that no version of ours writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace canopy::wire::testing {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

inline std::string number_field(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}

inline std::string bytes_field(unsigned field, std::string_view bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

}  // namespace canopy::wire::testing
