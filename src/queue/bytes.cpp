#include "queue/bytes.hpp"

#include <array>

namespace canopy::queue {

void ByteWriter::u64(std::uint64_t value) {
  std::array<char, 8> bytes;
  for (std::size_t i = bytes.size(); i-- > 0; value >>= 8) {
    bytes[i] = static_cast<char>(value & 0xff);
  }
  out_.append(bytes.data(), bytes.size());
}

void ByteWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
  out_.push_back(static_cast<char>(value));
}

void ByteWriter::zigzag(std::int64_t value) {
  varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

void ByteWriter::text(std::string_view value) {
  varint(value.size());
  out_.append(value);
}

std::string_view ByteReader::raw(std::size_t size) noexcept {
  if (!ok_ || size > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  const auto bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

std::uint8_t ByteReader::u8() noexcept {
  const auto bytes = raw(1);
  return bytes.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(bytes[0]);
}

std::uint64_t ByteReader::u64() noexcept {
  std::uint64_t value = 0;
  for (const char byte : raw(8)) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

std::uint64_t ByteReader::varint() noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = u8();
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  ok_ = false;
  return 0;
}

std::int64_t ByteReader::zigzag() noexcept {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

std::string_view ByteReader::text() noexcept {
  const std::uint64_t size = varint();
  return raw(size);
}

std::size_t ByteReader::count() noexcept {
  const std::uint64_t value = varint();
  if (value <= rest_.size()) return value;
  ok_ = false;
  return 0;
}

}  // namespace canopy::queue
