// Who may do what in a group, and how a peer shows that it may. Plain values.
//
// A right belongs to everybody, or to some peers, by their ids, and to whoever has
// one of some tokens. A token is a secret: lists hold the public keys that follow
// from tokens, and who has one signs (group, right, own id, incarnation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ed25519.hpp"
#include "base/id.hpp"

namespace canopy::wire {

enum class Right : std::uint8_t { publish = 1, join = 2, manage = 3, create = 4 };

// Who has a right. Nobody, if not everybody and nobody is listed.
struct Grant {
  bool everybody = true;
  std::vector<Id> peers = {};
  std::vector<PublicKey> keys = {};
  friend bool operator==(const Grant&, const Grant&) = default;
};

inline constexpr std::size_t grants_max = 64;     // peers and keys of all rights together
inline constexpr std::size_t ancestors_max = 32;  // versions

// Each version has a mark of its own, and tells the latest of those that it was
// made from (the newest last): so one can tell whether of two lists one has come
// from the other, or whether they were changed apart (scribe/access.hpp).
struct AccessList {
  Grant publish = {};
  Grant join = {};
  Grant manage = {};  // change this list, delete the group
  std::uint64_t mark = 0;
  std::vector<std::uint64_t> ancestors = {};
};

inline std::size_t grants_of(const AccessList& list) noexcept {
  const auto of = [](const Grant& grant) { return grant.peers.size() + grant.keys.size(); };
  return of(list.publish) + of(list.join) + of(list.manage);
}

// Null: everybody may everything.
using AccessRef = std::shared_ptr<const AccessList>;

struct Proof {
  PublicKey key = {};
  Signature signature = {};
};
using ProofRef = std::shared_ptr<const Proof>;  // null: no token

}  // namespace canopy::wire
