// The bytes of a message: immutable and shared by counting.
//
// Copying a Payload copies no bytes: what was read once from a socket is what
// every subscriber of this process sees. A Payload keeps the block alive that
// its bytes lie in, which may be the larger one of a whole network read; copy
// the bytes out to keep a small payload for long. Safe to pass between threads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace canopy {

class Payload {
 public:
  Payload() noexcept = default;

  // Copies the bytes, once.
  explicit Payload(std::string_view bytes);

  // Shares bytes that `owner` keeps alive and nobody changes any more.
  Payload(std::shared_ptr<const void> owner, std::string_view bytes) noexcept
      : owner_(std::move(owner)), bytes_(bytes) {}

  std::string_view view() const noexcept { return bytes_; }
  std::span<const std::byte> bytes() const noexcept { return std::as_bytes(std::span(bytes_)); }
  std::size_t size() const noexcept { return bytes_.size(); }
  bool empty() const noexcept { return bytes_.empty(); }
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

  friend bool operator==(const Payload& a, const Payload& b) noexcept {
    return a.bytes_ == b.bytes_;
  }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view bytes_;
};

}  // namespace canopy
