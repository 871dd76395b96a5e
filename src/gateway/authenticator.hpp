// Who sent a request: checks signatures against the known keys.
//
// One a thread: it caches signing keys, so that a request costs one HMAC.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include <boost/system/result.hpp>

#include "gateway/credentials.hpp"
#include "gateway/failure.hpp"
#include "gateway/http_request.hpp"
#include "gateway/sha256.hpp"
#include "gateway/signature.hpp"
#include "queue/actions.hpp"

namespace canopy::gateway {

struct AccessRules {
  // Requests without a signature and of unknown keys are accepted unverified: a
  // key of twelve digits is the account then.
  bool allow_anonymous = false;
  queue::AccountId default_account = "000000000000";
  std::string default_region = "us-east-1";
  std::int64_t clock_skew_seconds_max = 15 * 60;
};

struct Identity {
  queue::Caller caller;
  std::string region;
};

class Authenticator {
 public:
  explicit Authenticator(AccessRules rules) : rules_(std::move(rules)) {}

  // Never null; from the next request on.
  void set_credentials(std::shared_ptr<const Credentials> credentials);

  // `now`: seconds since 1970.
  boost::system::result<Identity, Failure> identify(const Request& request, std::int64_t now);

 private:
  Identity unverified(std::string_view key_id, std::string_view region) const;
  std::optional<Failure> check(const Request& request, const Signature& signature,
                               const Credential& credential, std::int64_t now);
  std::optional<Failure> check_time(const Signature& signature, std::int64_t now) const;
  const Sha256& signing_key(const Signature& signature, const Credential& credential);

  static constexpr std::size_t keys_max = 1'024;

  const AccessRules rules_;
  std::shared_ptr<const Credentials> credentials_ = std::make_shared<Credentials>();
  std::unordered_map<std::string, Sha256> keys_;  // by key id and scope
};

}  // namespace canopy::gateway
