#include "queue/md5.hpp"

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace canopy::queue {

struct Md5::Context {
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
  EVP_MD_CTX* state = EVP_MD_CTX_new();

  ~Context() {
    EVP_MD_CTX_free(state);
    EVP_MD_free(algorithm);
  }
};

Md5::Md5() : context_(std::make_unique<Context>()) {
  CANOPY_ASSERT(context_->algorithm != nullptr && context_->state != nullptr);
}

Md5::~Md5() = default;

Md5Digest Md5::of(std::string_view bytes) {
  Md5Digest digest;
  unsigned size = 0;
  const bool done = EVP_DigestInit_ex2(context_->state, context_->algorithm, nullptr) == 1 &&
                    EVP_DigestUpdate(context_->state, bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context_->state,
                                       reinterpret_cast<unsigned char*>(digest.data()), &size) == 1;
  CANOPY_ASSERT(done && size == digest.size());
  return digest;
}

Md5Digest Md5::of(const MessageAttributes& attributes) {
  std::string encoded;
  const auto append = [&encoded](std::string_view text) {
    for (unsigned shift = 32; shift > 0; shift -= 8) {
      encoded.push_back(static_cast<char>(text.size() >> (shift - 8) & 0xff));
    }
    encoded.append(text);
  };
  for (const auto& [name, attribute] : attributes) {
    append(name);
    append(attribute.type);
    encoded.push_back(attribute.binary ? '\2' : '\1');
    append(attribute.value);
  }
  return of(encoded);
}

}  // namespace canopy::queue
