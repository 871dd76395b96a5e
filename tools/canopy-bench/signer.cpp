#include "canopy-bench/signer.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "gateway/signature.hpp"

namespace canopy::tools {

using gateway::hmac_sha256;
using gateway::view_of;

Signer::Signer(SigningKey key) : key_(std::move(key)) {}

void Signer::set_time(std::int64_t seconds) {
  if (seconds == seconds_) return;
  seconds_ = seconds;
  timestamp_ = gateway::format_timestamp(seconds);
  if (day_of_key_ != day()) {
    day_of_key_ = day();
    auto step = hmac_sha256("AWS4" + key_.secret, day_of_key_);
    step = hmac_sha256(view_of(step), key_.region);
    step = hmac_sha256(view_of(step), "sqs");
    day_key_ = hmac_sha256(view_of(step), "aws4_request");
  }
  prefix_ = fmt::format("AWS4-HMAC-SHA256\n{}\n{}/{}/sqs/aws4_request\n", timestamp_, day_of_key_,
                        key_.region);
}

std::string Signer::sign(std::string_view canonical_request) const {
  const std::string text = prefix_ + to_hex(view_of(gateway::sha256(canonical_request)));
  return to_hex(view_of(hmac_sha256(view_of(day_key_), text)));
}

}  // namespace canopy::tools
