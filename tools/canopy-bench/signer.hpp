// Signs requests in AWS's version 4, for one service, as often as a load
// generator needs: what changes once a second or once a day is kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/sha256.hpp"

namespace canopy::tools {

struct SigningKey {
  std::string key_id;
  std::string secret;
  std::string region = "us-east-1";
};

class Signer {
 public:
  explicit Signer(SigningKey key);

  // From now on requests are of this second since 1970.
  void set_time(std::int64_t seconds);

  const std::string& key_id() const noexcept { return key_.key_id; }
  const std::string& region() const noexcept { return key_.region; }
  const std::string& timestamp() const noexcept { return timestamp_; }  // 20260101T120000Z
  std::string_view day() const noexcept { return std::string_view(timestamp_).substr(0, 8); }

  // 64 hexadecimal digits.
  std::string sign(std::string_view canonical_request) const;

 private:
  SigningKey key_;
  std::int64_t seconds_ = -1;
  std::string timestamp_;
  std::string day_of_key_;
  gateway::Sha256 day_key_{};
  std::string prefix_;  // of what is signed
};

}  // namespace canopy::tools
