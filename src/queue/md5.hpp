// MD5 as Amazon SQS answers it: of a body's bytes, and of message attributes in
// its length-prefixed encoding. One thread: it keeps its context.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "queue/actions.hpp"

namespace canopy::queue {

using Md5Digest = std::array<char, 16>;

class Md5 {
 public:
  Md5();
  ~Md5();
  Md5(const Md5&) = delete;
  Md5& operator=(const Md5&) = delete;

  Md5Digest of(std::string_view bytes);

  // Of attributes, in the order of their names: name, type, a byte that tells
  // text from bytes, value; each but that byte after its length in four bytes.
  Md5Digest of(const MessageAttributes& attributes);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

inline std::string_view bytes_of(const Md5Digest& digest) noexcept {
  return {digest.data(), digest.size()};
}

}  // namespace canopy::queue
