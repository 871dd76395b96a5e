// Receipt handles: which message, and which of its receives. Sealed with a MAC
// under a key that is part of the replicated state, so that a handle can be
// neither forged nor altered and works at every gateway. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queue/position.hpp"

namespace canopy::queue {

using SecretKey = std::array<char, 16>;

struct ReceiptHandle {
  std::uint64_t queue = 0;  // its number: of one creation, never used again
  std::uint64_t shard = 0;
  Position at;
  std::uint64_t term = 0;     // of the leader that gave it
  std::uint64_t receive = 0;  // counts receives of a queue within a term

  friend bool operator==(const ReceiptHandle&, const ReceiptHandle&) = default;
};

// Text in base64url.
std::string seal(const ReceiptHandle& handle, std::uint64_t key_id, const SecretKey& key);

// The key's id; nothing if it is no handle at all.
std::optional<std::uint64_t> key_of_handle(std::string_view text);

// Nothing if it was not sealed with this key.
std::optional<ReceiptHandle> open_handle(std::string_view text, const SecretKey& key);

// SipHash-2-4 (Aumasson and Bernstein, 2012): a MAC for short inputs.
std::uint64_t sip_hash(const SecretKey& key, std::string_view bytes) noexcept;

}  // namespace canopy::queue
