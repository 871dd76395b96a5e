// The access keys that a gateway knows, and whose they are.
//
// Immutable once made, so shared freely between threads; a reload makes a new
// set. Errors in the file are thrown as std::runtime_error: they are a matter of
// configuration.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "queue/actions.hpp"

namespace canopy::gateway {

struct Credential {
  std::string secret;
  queue::AccountId account;
  std::string user;  // as SenderId shows it
};

class Credentials {
 public:
  Credentials() = default;

  // As AWS's credentials file: [profile] sections with aws_access_key_id and
  // aws_secret_access_key; and here account (twelve digits) and user, which by
  // default are the default account and its root user. Lines of '#' or ';' are
  // comments, other keys of AWS's are ignored.
  static Credentials parse(std::string_view text, std::string_view default_account);
  static Credentials load(const std::filesystem::path& file, std::string_view default_account);

  // AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ACCOUNT_ID; none if the
  // first two are not set.
  static Credentials from_environment(std::string_view default_account);

  void add(std::string key_id, Credential credential);

  // nullptr: unknown.
  const Credential* find(std::string_view key_id) const noexcept;

  bool empty() const noexcept { return by_key_id_.empty(); }
  std::size_t size() const noexcept { return by_key_id_.size(); }

 private:
  std::map<std::string, Credential, std::less<>> by_key_id_;
};

}  // namespace canopy::gateway
