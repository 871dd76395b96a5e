// Numbers and texts as bytes: what commands, stored values and keys are made of.
// Varints are LEB128; a text is its length and its bytes. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace canopy::queue {

class ByteWriter {
 public:
  void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
  // Eight bytes, most significant first, so that keys sort by number.
  void u64(std::uint64_t value);
  void varint(std::uint64_t value);
  // Small negative numbers stay small.
  void zigzag(std::int64_t value);
  void text(std::string_view value);
  void raw(std::string_view value) { out_.append(value); }

  void reserve(std::size_t bytes) { out_.reserve(bytes); }
  std::size_t size() const noexcept { return out_.size(); }
  const std::string& view() const noexcept { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Reads what ByteWriter wrote. Past the end, or on a malformed number, it gives
// zeros and empty texts and ok() is false from then on: checked once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) noexcept : rest_(bytes) {}

  std::uint8_t u8() noexcept;
  std::uint64_t u64() noexcept;
  std::uint64_t varint() noexcept;
  std::int64_t zigzag() noexcept;
  std::string_view text() noexcept;
  std::string_view raw(std::size_t size) noexcept;
  std::string_view rest() const noexcept { return rest_; }

  // A count of things that take at least a byte each; 0 and not ok() if more
  // are promised than there are bytes.
  std::size_t count() noexcept;

  bool ok() const noexcept { return ok_; }
  bool finished() const noexcept { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace canopy::queue
