// What a node knows of who may be in a group's tree. A group that never had an
// access list, nor a member with a token, has none.
#pragma once

#include <cstdint>
#include <map>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

struct GroupAccess {
  wire::AccessRef list;    // the root's state has it, and parents tell it
  std::uint32_t life = 0;  // of the group: GroupState::life. A list is one life's only
  wire::ProofRef proof;    // this node's, of its right to be a member
  // Of children that have asked before this node was in the tree.
  std::map<PeerRef, wire::ProofRef> proofs;
};

}  // namespace canopy::scribe
