// Ed25519 signatures (RFC 8032) and SHA-256, by OpenSSL: who has a secret can show
// it without telling it. Safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

struct evp_pkey_st;

namespace canopy {

using PublicKey = std::array<std::uint8_t, 32>;
using Signature = std::array<std::uint8_t, 64>;

std::array<std::uint8_t, 32> sha256(std::string_view bytes);

// The private half. Copies share it.
class SigningKey {
 public:
  explicit SigningKey(const std::array<std::uint8_t, 32>& seed);

  const PublicKey& public_key() const noexcept { return public_key_; }
  Signature sign(std::string_view message) const;

 private:
  std::shared_ptr<evp_pkey_st> key_;
  PublicKey public_key_{};
};

// False also for a key that is none.
bool verify(const PublicKey& key, std::string_view message, const Signature& signature);

}  // namespace canopy
