// Who may do what in a group, and tokens. Plain values.
//
// A right belongs to everybody, or to the listed: peers, by their ids, and whoever
// has one of some tokens. A token is a secret text that users hand to each other; it
// never leaves the node that it is given to (with a join, publish or create), which
// signs with the key that follows from it, and lists hold only the public half.
// Peers do not authenticate each other: on a network that you do not trust, ids
// protect from mistakes, and tokens from others. Whoever carries a group's messages
// for others could read them: rights say who is a member, they encrypt nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <canopy/key.hpp>
#include <canopy/message.hpp>

namespace canopy {

// The public half of a token: "key:" and 64 hexadecimal digits where people write it.
using TokenId = std::array<std::uint8_t, 32>;

inline constexpr std::size_t token_size_min = 16;  // bytes; what people choose is guessed

// A fresh one, with 256 random bits.
std::string make_token();
TokenId token_id(std::string_view token);

struct Grant {
  bool everybody = true;
  // Nobody, if all are empty.
  std::vector<Key> peers = {};
  std::vector<TokenId> tokens = {};
  friend bool operator==(const Grant&, const Grant&) = default;
};

// Up to 64 peers and tokens in all.
struct AccessList {
  Grant publish = {};
  Grant join = {};
  Grant manage = {.everybody = false};  // change this list, delete the group
  friend bool operator==(const AccessList&, const AccessList&) = default;
};

struct CreateOptions {
  GroupMode mode = GroupMode::best_effort;
  AccessList access = {};  // manage, if it is nobody: this node
  std::string token = {};  // where roots let not everybody create groups
};

struct CreateResult {
  bool existed = false;                     // it was there already, and keeps its own access list
  GroupMode mode = GroupMode::best_effort;  // the group's, also when that is the error
  friend bool operator==(const CreateResult&, const CreateResult&) = default;
};

// What a group's root knows of it.
struct GroupDefinition {
  GroupName name;
  Key id;
  GroupMode mode = GroupMode::best_effort;
  bool created = false;  // by a create; else it lives as long as somebody is in it
  // None: everybody may do everything.
  std::optional<AccessList> access;
  std::uint64_t access_version = 0;  // names this version of the list; not ordered
};

// One entry as people write it: "peer:NAME", "id:HEX" (40 digits), "key:HEX" (64
// digits), "token:FILE" (whose only line is a token), "token:@VARIABLE" (of the
// environment); or "anyone", or "nobody", which stand alone. Puts it into the grant
// (or, `removes`, takes it out), or says what is wrong: empty if nothing is.
std::string add_to(Grant& grant, std::string_view text);
std::string remove_from(Grant& grant, std::string_view text);
std::string to_text(const Grant& grant);  // "anyone", "nobody", or entries, by commas

}  // namespace canopy
