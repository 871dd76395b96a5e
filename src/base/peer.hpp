// Peers: who they are, and the small handles by which the protocol names them.
//
// Protocol state keeps 32-bit PeerRefs; the descriptors live once in a
// PeerTable (one a daemon; one for all nodes of a simulation). A descriptor
// never changes: a peer that restarts, moves to another address or changes its
// zone is a new descriptor with the same id, and has a new PeerRef.
// Not thread-safe: a table belongs to the overlay's thread.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/assert.hpp"
#include "base/id.hpp"

namespace canopy {

// An address to dial: a numeric IPv4 or IPv6 address, or a host name.
struct Endpoint {
  std::string host = {};
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// Bits of PeerDescriptor::roles.
namespace role {
inline constexpr std::uint8_t storage = 1;
inline constexpr std::uint8_t gateway = 2;
}  // namespace role

struct PeerDescriptor {
  Id id = {};
  std::uint64_t incarnation = 0;  // larger for a later boot of the same peer
  std::string name = {};
  std::vector<Endpoint> addresses = {};  // in the order in which to dial them
  std::uint8_t roles = 0;
  std::string zone = {};
  friend bool operator==(const PeerDescriptor&, const PeerDescriptor&) = default;
};

// Names a descriptor of one PeerTable. Ordered by first sight: fit for
// deterministic iteration, without other meaning.
class PeerRef {
 public:
  constexpr PeerRef() noexcept = default;
  constexpr explicit PeerRef(std::uint32_t index) noexcept : index_(index) {}
  constexpr std::uint32_t index() const noexcept { return index_; }
  constexpr explicit operator bool() const noexcept { return index_ != none; }
  friend constexpr auto operator<=>(PeerRef, PeerRef) noexcept = default;

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  std::uint32_t index_ = none;
};

class PeerTable {
 public:
  // The handle of this descriptor, which is added unless an equal one is there.
  PeerRef intern(PeerDescriptor descriptor);

  // The reference lasts until a sweep() forgets the peer.
  const PeerDescriptor& operator[](PeerRef ref) const;

  // What protocols ask for most, kept apart in a flat array. The reference
  // lasts until the next intern().
  const Id& id(PeerRef ref) const {
    CANOPY_ASSERT(ref.index() < ids_.size());
    return ids_[ref.index()];
  }

  // The latest incarnation known of this id (of several descriptors with the
  // same one, that of the largest handle); an empty ref if there is none.
  PeerRef find(const Id& id) const;

  // Number of descriptors held.
  std::size_t size() const noexcept { return index_by_identity_.size(); }

  // Forgets every descriptor that `in_use` (any order, duplicates welcome)
  // does not name; freed handles are used again. A daemon calls it when size()
  // has doubled since the last time, so that hearsay cannot grow the table.
  void sweep(std::span<const PeerRef> in_use);

 private:
  struct Slot {
    PeerDescriptor descriptor;
    bool used = false;
  };
  std::deque<Slot> slots_;
  std::vector<Id> ids_;  // by handle
  std::vector<std::uint32_t> free_;
  std::unordered_multimap<Id, std::uint32_t> index_by_identity_;  // looked up, never iterated whole
};

}  // namespace canopy

template <>
struct std::hash<canopy::PeerRef> {
  std::size_t operator()(canopy::PeerRef ref) const noexcept { return ref.index(); }
};
