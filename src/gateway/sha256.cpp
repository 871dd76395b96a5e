#include "gateway/sha256.hpp"

#include <algorithm>
#include <memory>

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace canopy::gateway {

namespace {

constexpr std::size_t block_size = 64;
using Block = std::array<std::uint8_t, block_size>;

// One hash under way at a time.
class Hasher {
 public:
  Hasher() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    CANOPY_ASSERT(algorithm_ && context_);
  }

  void begin() { CANOPY_ASSERT(EVP_DigestInit_ex(context_.get(), algorithm_.get(), nullptr) == 1); }
  void add(std::string_view bytes) {
    CANOPY_ASSERT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
  Sha256 end() {
    Sha256 digest{};
    unsigned size = 0;
    CANOPY_ASSERT(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
    return digest;
  }

  static Hasher& of_this_thread() {
    thread_local Hasher hasher;
    return hasher;
  }

 private:
  struct Free {
    void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD, Free> algorithm_;
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

Sha256 padded_hash(const Block& key, std::uint8_t pad, std::string_view bytes) {
  Block padded = key;
  for (auto& byte : padded) byte ^= pad;
  Hasher& hasher = Hasher::of_this_thread();
  hasher.begin();
  hasher.add({reinterpret_cast<const char*>(padded.data()), padded.size()});
  hasher.add(bytes);
  return hasher.end();
}

}  // namespace

Sha256 sha256(std::string_view bytes) {
  Hasher& hasher = Hasher::of_this_thread();
  hasher.begin();
  hasher.add(bytes);
  return hasher.end();
}

// The states behind a key's pads are not kept: that would save 0.05 us each.
Sha256 hmac_sha256(std::string_view key, std::string_view bytes) {
  Block block{};
  if (key.size() > block_size) {
    const Sha256 short_key = sha256(key);
    std::copy(short_key.begin(), short_key.end(), block.begin());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  return padded_hash(block, 0x5c, view_of(padded_hash(block, 0x36, bytes)));
}

}  // namespace canopy::gateway
