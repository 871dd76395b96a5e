#include "base/ed25519.hpp"

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace canopy {

namespace {

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

Context new_context() {
  Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  CANOPY_ASSERT(context);
  return context;
}

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  std::array<std::uint8_t, 32> digest{};
  unsigned size = 0;
  const int ok =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  CANOPY_ASSERT(ok == 1 && size == digest.size());
  return digest;
}

SigningKey::SigningKey(const std::array<std::uint8_t, 32>& seed)
    : key_(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()),
           &EVP_PKEY_free) {
  CANOPY_ASSERT(key_);
  std::size_t size = public_key_.size();
  const int ok = EVP_PKEY_get_raw_public_key(key_.get(), public_key_.data(), &size);
  CANOPY_ASSERT(ok == 1 && size == public_key_.size());
}

Signature SigningKey::sign(std::string_view message) const {
  const Context context = new_context();
  Signature signature{};
  std::size_t size = signature.size();
  const bool ok = EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
                  EVP_DigestSign(context.get(), signature.data(), &size, unsigned_bytes(message),
                                 message.size()) == 1;
  CANOPY_ASSERT(ok && size == signature.size());
  return signature;
}

bool verify(const PublicKey& key, std::string_view message, const Signature& signature) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> public_key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()),
      &EVP_PKEY_free);
  if (!public_key) return false;
  const Context context = new_context();
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, public_key.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                          unsigned_bytes(message), message.size()) == 1;
}

}  // namespace canopy
