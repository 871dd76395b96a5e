// A request of SQS's JSON protocol as the bytes that are sent. It is rendered
// once and then changed in place, as a load generator that shares the machine
// with the server must be cheap.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "canopy-bench/http_client.hpp"
#include "canopy-bench/signer.hpp"

namespace canopy::tools {

class SqsRequest {
 public:
  // Signed if there is a signer, which must outlive it.
  SqsRequest(const Target& target, const Signer* signer, std::string_view action);

  void set_body(std::string_view body);
  // Where it can be changed without getting longer or shorter.
  char* body() noexcept { return bytes_.data() + body_at_; }
  std::size_t body_size() const noexcept { return bytes_.size() - body_at_; }

  // Signed as of the signer's time.
  std::string_view bytes();

 private:
  void append_authorization();
  void put(std::size_t at, std::string_view text);
  void sign();

  const Signer* signer_;
  std::string bytes_;
  std::size_t head_size_ = 0;  // up to the number of the Content-Length
  std::size_t body_at_ = 0;
  // Of what a signature changes.
  std::size_t date_at_ = 0;
  std::size_t day_at_ = 0;
  std::size_t signature_at_ = 0;
  std::string canonical_;
  std::size_t canonical_date_at_ = 0;
  std::size_t canonical_hash_at_ = 0;
};

// Calls the action and waits for its answer's body, a second or ten. Throws
// std::runtime_error if there is none, or with the error that the server says.
std::string call(const Target& target, const std::optional<SigningKey>& key,
                 std::string_view action, std::string_view body);

// The error that the answer's body says, or the status.
std::string error_code(int status, std::string_view body);

}  // namespace canopy::tools
