#include "base/sha1.hpp"

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace canopy {

std::array<std::uint8_t, 20> sha1(std::string_view bytes) {
  std::array<std::uint8_t, 20> digest{};
  unsigned size = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha1(), nullptr);
  CANOPY_ASSERT(ok == 1 && size == digest.size());
  return digest;
}

}  // namespace canopy
