#include "gateway/authenticator.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <openssl/crypto.h>

#include "base/text.hpp"
#include "gateway/queue_url.hpp"

namespace canopy::gateway {

namespace {

Failure wrong_signature() {
  return signature_does_not_match(
      "The request signature we calculated does not match the signature you provided. Check your "
      "AWS Secret Access Key and signing method. Consult the service documentation for details.");
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// The key id of a request of the older signature version, or the like. A JSON
// body is no form: what it says are the user's words.
std::string_view old_key_id(const Request& request) {
  constexpr std::string_view name = "AWSAccessKeyId=";
  const bool form = request.field("x-amz-target").empty();
  for (const std::string_view text : {request.query(), form ? request.body : ""}) {
    const std::size_t found = text.find(name);
    if (found == std::string_view::npos) continue;
    const std::string_view value = text.substr(found + name.size());
    return value.substr(0, value.find('&'));
  }
  return {};
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void Authenticator::set_credentials(std::shared_ptr<const Credentials> credentials) {
  if (credentials == credentials_) return;
  credentials_ = std::move(credentials);
  keys_.clear();
}

boost::system::result<Identity, Failure> Authenticator::identify(const Request& request,
                                                                 std::int64_t now) {
  auto parsed = signature_of(request);
  if (parsed.has_error()) {
    if (rules_.allow_anonymous) return unverified({}, {});
    return parsed.error();
  }
  if (!*parsed) {
    if (!rules_.allow_anonymous) return missing_authentication_token();
    return unverified(old_key_id(request), region_of_host(request.field("host")));
  }
  const Signature& signature = **parsed;
  const Credential* credential = credentials_->find(signature.key_id);
  if (!credential) {
    if (!rules_.allow_anonymous) return invalid_client_token();
    return unverified(signature.key_id, signature.region);
  }
  if (auto refused = check(request, signature, *credential, now)) return *std::move(refused);
  return Identity{{credential->account, credential->user}, signature.region};
}

Identity Authenticator::unverified(std::string_view key_id, std::string_view region) const {
  const std::string account(is_account(key_id) ? key_id : rules_.default_account);
  return {{account, account}, std::string(region.empty() ? rules_.default_region : region)};
}

std::optional<Failure> Authenticator::check(const Request& request, const Signature& signature,
                                            const Credential& credential, std::int64_t now) {
  if (signature.service != "sqs" && signature.service != "sts")
    return signature_does_not_match("Credential should be scoped to correct service: 'sqs'.");
  if (!signature.timestamp.starts_with(signature.date))
    return signature_does_not_match(
        fmt::format("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of "
                    "date from HTTP: '{}' != '{}', from '{}'.",
                    signature.date, signature.timestamp.substr(0, 8), signature.timestamp));
  if (!has(signature.signed_headers, "host"))
    return signature_does_not_match(
        "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
  if (auto late = check_time(signature, now)) return late;
  const auto canonical = canonical_request(request, signature);
  if (!canonical) return wrong_signature();
  const Sha256 expected = hmac_sha256(view_of(signing_key(signature, credential)),
                                      string_to_sign(signature, *canonical));
  if (!equal_in_constant_time(to_hex(view_of(expected)), signature.signature))
    return wrong_signature();
  return std::nullopt;
}

std::optional<Failure> Authenticator::check_time(const Signature& signature,
                                                 std::int64_t now) const {
  const auto signed_at = parse_timestamp(signature.timestamp);
  if (!signed_at)
    return incomplete_signature(
        fmt::format("Date must be in ISO-8601 'basic format'. Got '{}'.", signature.timestamp));
  const std::int64_t skew = rules_.clock_skew_seconds_max;
  if (*signed_at - now > skew)
    return signature_does_not_match(fmt::format(
        "Signature not yet current: {} is still later than {} ({} + {} min.)", signature.timestamp,
        format_timestamp(now + skew), format_timestamp(now), skew / 60));
  if (signature.presigned) {
    if (now - *signed_at > signature.expires.value_or(skew)) return request_expired();
  } else if (now - *signed_at > skew) {
    return signature_does_not_match(fmt::format(
        "Signature expired: {} is now earlier than {} ({} - {} min.)", signature.timestamp,
        format_timestamp(now - skew), format_timestamp(now), skew / 60));
  }
  return std::nullopt;
}

const Sha256& Authenticator::signing_key(const Signature& signature, const Credential& credential) {
  const std::string name = signature.key_id + '/' + signature.scope();
  const auto found = keys_.find(name);
  if (found != keys_.end()) return found->second;
  if (keys_.size() >= keys_max) keys_.clear();
  Sha256 key = hmac_sha256("AWS4" + credential.secret, signature.date);
  for (const std::string_view part :
       {std::string_view(signature.region), std::string_view(signature.service),
        std::string_view("aws4_request")})
    key = hmac_sha256(view_of(key), part);
  return keys_.emplace(name, key).first->second;
}

}  // namespace canopy::gateway
