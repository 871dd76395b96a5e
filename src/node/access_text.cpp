#include "node/access_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "node/entropy.hpp"
#include "node/values.hpp"

namespace canopy {

namespace {

constexpr std::size_t token_bytes_max = 1024;

std::string_view view_of(const TokenId& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

std::optional<TokenId> token_id_from(std::string_view hex) {
  TokenId id{};
  if (hex.size() != 2 * id.size()) return std::nullopt;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const auto high = hex_value(hex[2 * i]);
    const auto low = hex_value(hex[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    id[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return id;
}

// One that an entry names, or what is wrong with it.
using Entry = std::variant<std::string, Key, TokenId>;

Entry token_entry(std::string_view source) {
  const node::TokenText read = source.starts_with('@')
                                   ? node::token_of_variable(std::string(source.substr(1)))
                                   : node::read_token(std::string(source));
  if (!read.problem.empty()) return read.problem;
  return token_id(read.token);
}

Entry parse_entry(std::string_view text) {
  const auto rest_of = [&](std::string_view prefix) {
    return text.starts_with(prefix) ? std::optional(text.substr(prefix.size())) : std::nullopt;
  };
  if (const auto name = rest_of("peer:"); name && is_valid_name(*name)) return Key::of(*name);
  if (const auto hex = rest_of("id:"); hex && hex->size() == 40) {
    if (const auto key = Key::from_hex(*hex)) return *key;
  }
  if (const auto hex = rest_of("key:")) {
    if (const auto id = token_id_from(*hex)) return *id;
  }
  if (const auto source = rest_of("token:"); source && !source->empty()) {
    return token_entry(*source);
  }
  return fmt::format(
      "'{}' is nobody: give anyone, nobody, peer:NAME, id:HEX (40 digits), key:HEX (64 digits), "
      "token:FILE or token:@VARIABLE",
      text);
}

template <class T>
void add(std::vector<T>& to, const T& value) {
  if (std::ranges::find(to, value) == to.end()) to.push_back(value);
}

}  // namespace

std::string make_token() {
  std::string bytes;
  for (int word = 0; word < 4; ++word) {
    const std::uint64_t random = node::system_entropy();
    bytes.append(reinterpret_cast<const char*>(&random), sizeof random);
  }
  std::string text = to_base64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  std::erase(text, '=');
  return text;
}

TokenId token_id(std::string_view token) { return SigningKey(sha256(token)).public_key(); }

std::string add_to(Grant& grant, std::string_view text) {
  if (text == "anyone" || text == "nobody") {
    grant = {text == "anyone", {}, {}};
    return {};
  }
  const Entry entry = parse_entry(text);
  if (const auto* problem = std::get_if<std::string>(&entry)) return *problem;
  grant.everybody = false;
  if (const auto* peer = std::get_if<Key>(&entry)) add(grant.peers, *peer);
  if (const auto* token = std::get_if<TokenId>(&entry)) add(grant.tokens, *token);
  return {};
}

std::string remove_from(Grant& grant, std::string_view text) {
  if (text == "anyone") return add_to(grant, "nobody");
  const Entry entry = parse_entry(text);
  if (const auto* problem = std::get_if<std::string>(&entry)) return *problem;
  if (grant.everybody) {
    return fmt::format("anyone may: to leave {} out, say first who may", text);
  }
  std::size_t removed = 0;
  if (const auto* peer = std::get_if<Key>(&entry)) removed = std::erase(grant.peers, *peer);
  if (const auto* token = std::get_if<TokenId>(&entry)) removed = std::erase(grant.tokens, *token);
  return removed > 0 ? "" : fmt::format("{} is not in the list", text);
}

std::string to_text(const Grant& grant) {
  if (grant.everybody) return "anyone";
  std::string text;
  const auto append = [&](const std::string& entry) { text += (text.empty() ? "" : ", ") + entry; };
  for (const Key& peer : grant.peers) append("id:" + peer.to_hex());
  for (const TokenId& token : grant.tokens) append("key:" + to_hex(view_of(token)));
  return text.empty() ? "nobody" : text;
}

}  // namespace canopy

namespace canopy::node {

namespace {

constexpr std::string_view blanks = " \t\r\n";

// Blanks and line ends around it are none of it, whoever has written them.
TokenText checked(std::string_view text, const std::string& where) {
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(first);
  const std::string token(text.substr(0, text.find_last_not_of(blanks) + 1));
  if (token.find_first_of("\r\n") != std::string::npos) {
    return {{}, fmt::format("{} holds more than one line: a token is one line alone", where)};
  }
  if (token.size() >= token_size_min) return {token, {}};
  return {{},
          fmt::format("{} holds no token: it needs {} bytes at least; `canopy token` makes one",
                      where, token_size_min)};
}

}  // namespace

wire::Grant to_wire(const Grant& grant) {
  wire::Grant out{grant.everybody, {}, grant.tokens};
  for (const Key& peer : grant.peers) out.peers.push_back(to_id(peer));
  return out;
}

Grant to_grant(const wire::Grant& grant) {
  Grant out{grant.everybody, {}, grant.keys};
  for (const Id& peer : grant.peers) out.peers.push_back(to_key(peer));
  return out;
}

wire::AccessRef to_wire(const AccessList& list) {
  return std::make_shared<const wire::AccessList>(
      wire::AccessList{to_wire(list.publish), to_wire(list.join), to_wire(list.manage), 0, {}});
}

AccessList to_access_list(const wire::AccessList& list) {
  return {to_grant(list.publish), to_grant(list.join), to_grant(list.manage)};
}

scribe::TokenKey token_key(std::string_view token) {
  return token.empty() ? nullptr : std::make_shared<const SigningKey>(sha256(token));
}

TokenText read_token(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(token_bytes_max + 1, '\0');
  if (!file) return {{}, fmt::format("cannot read the token in {}", path)};
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > token_bytes_max) return {{}, fmt::format("{} is too long for a token", path)};
  return checked(text, path);
}

TokenText token_of_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) return {{}, fmt::format("the variable {} is not set", name)};
  return checked(value, "the variable " + name);
}

}  // namespace canopy::node
