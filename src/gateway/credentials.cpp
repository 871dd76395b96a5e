#include "gateway/credentials.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "gateway/queue_url.hpp"

namespace canopy::gateway {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

[[noreturn]] void refuse(std::size_t line, std::string_view what) {
  throw std::runtime_error(fmt::format("credentials, line {}: {}", line, what));
}

struct Profile {
  std::size_t line = 0;  // where it begins; 0: there is none yet
  std::string key_id;
  Credential credential;
};

void keep(Profile profile, std::string_view default_account, Credentials& credentials) {
  if (profile.line == 0) return;
  if (profile.key_id.empty() || profile.credential.secret.empty())
    refuse(profile.line, "a profile needs aws_access_key_id and aws_secret_access_key");
  if (credentials.find(profile.key_id))
    refuse(profile.line, fmt::format("{} is there twice", profile.key_id));
  if (profile.credential.account.empty()) profile.credential.account = default_account;
  credentials.add(std::move(profile.key_id), std::move(profile.credential));
}

void set(Profile& profile, std::size_t line, std::string_view key, std::string_view value) {
  if (key == "aws_access_key_id") profile.key_id = value;
  if (key == "aws_secret_access_key") profile.credential.secret = value;
  if (key == "user") profile.credential.user = value;
  if (key == "account" || key == "aws_account_id") {
    if (!is_account(value)) refuse(line, "an account is twelve digits");
    profile.credential.account = value;
  }
}

}  // namespace

Credentials Credentials::parse(std::string_view text, std::string_view default_account) {
  Credentials credentials;
  Profile profile;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    const std::string_view line = trimmed(whole);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      if (line.back() != ']') refuse(number, "a profile's name ends with ']'");
      keep(std::exchange(profile, {}), default_account, credentials);
      profile.line = number;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || profile.line == 0)
      refuse(number, "expected [profile], or key = value below one");
    set(profile, number, trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
  keep(std::move(profile), default_account, credentials);
  return credentials;
}

Credentials Credentials::load(const std::filesystem::path& file, std::string_view default_account) {
  std::error_code ignored;
  const bool is_directory = std::filesystem::is_directory(file, ignored);
  std::ifstream in;
  if (!is_directory) in.open(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad())
    throw std::runtime_error(
        fmt::format("cannot read the credentials in {}: {}: give a file of keys as --credentials",
                    file.string(), std::generic_category().message(is_directory ? EISDIR : errno)));
  try {
    return parse(text, default_account);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), error.what()));
  }
}

Credentials Credentials::from_environment(std::string_view default_account) {
  Credentials credentials;
  const char* key_id = std::getenv("AWS_ACCESS_KEY_ID");
  const char* secret = std::getenv("AWS_SECRET_ACCESS_KEY");
  if (!key_id || !secret || !*key_id || !*secret) return credentials;
  const char* account = std::getenv("AWS_ACCOUNT_ID");
  if (account && !is_account(account))
    throw std::runtime_error("AWS_ACCOUNT_ID: an account is twelve digits");
  credentials.add(key_id, {secret, account ? account : std::string(default_account), {}});
  return credentials;
}

void Credentials::add(std::string key_id, Credential credential) {
  if (credential.user.empty()) credential.user = credential.account;
  by_key_id_.insert_or_assign(std::move(key_id), std::move(credential));
}

const Credential* Credentials::find(std::string_view key_id) const noexcept {
  const auto found = by_key_id_.find(key_id);
  return found == by_key_id_.end() ? nullptr : &found->second;
}

}  // namespace canopy::gateway
