// SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104) by OpenSSL. Safe from any
// thread; each thread reuses contexts of its own, as making one costs more than
// hashing a request.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace canopy::gateway {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);
Sha256 hmac_sha256(std::string_view key, std::string_view bytes);

inline std::string_view view_of(const Sha256& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace canopy::gateway
