// Signature version 4: what a request says about its signer, and what has to be
// signed. Pure functions; the secret's part is in authenticator.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "gateway/failure.hpp"
#include "gateway/http_request.hpp"

namespace canopy::gateway {

struct Signature {
  bool presigned = false;  // in the query rather than in a header
  std::string key_id;
  std::string date;  // of the scope: 20260101
  std::string region;
  std::string service;
  std::vector<std::string> signed_headers;  // lower case
  std::string signature;                    // hexadecimal
  std::string timestamp;                    // 20260101T120000Z
  std::optional<std::int64_t> expires;      // seconds; presigned only

  std::string scope() const;
};

// Nothing: the request is not signed in this version. The failures are those of
// a signature that lacks something.
boost::system::result<std::optional<Signature>, Failure> signature_of(const Request& request);

// Seconds since 1970 of a 20260101T120000Z; nothing for any other text.
std::optional<std::int64_t> parse_timestamp(std::string_view text) noexcept;
std::string format_timestamp(std::int64_t seconds);

// The request in the form that is signed; nothing if a signed header is missing
// or the payload hash that it states is not its body's.
std::optional<std::string> canonical_request(const Request& request, const Signature& signature);

std::string string_to_sign(const Signature& signature, std::string_view canonical_request);

}  // namespace canopy::gateway
