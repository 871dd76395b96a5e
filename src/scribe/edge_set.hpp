// The tree edges between two neighbours in one direction, as an
// order-independent hash and a count: what a heartbeat says about them. Two ends
// that agree share the same groups, and the child knows the path from the root
// that its parent has told. A second hash is of what the two have told each other
// of members (member_counts.hpp). Plain values.
#pragma once

#include <cstdint>

#include "base/id.hpp"
#include "base/mix.hpp"
#include "base/peer.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

// The same at both ends, whatever their handles for the peers on the path.
inline std::uint64_t path_hash(const wire::Peers& path, const PeerTable& peers) {
  std::uint64_t hash = 0;
  for (const PeerRef peer : path) hash = mix64(hash ^ peers.id(peer).high64());
  return hash;
}

struct Edge {
  Id group;
  std::uint64_t path_hash = 0;  // of the path from the root down to the parent
  std::uint32_t told = 0;       // of members, by the child
  std::uint32_t shown = 0;      // of members, to the child
};

struct EdgeSet {
  std::uint64_t hash = 0;  // sum of the mixed edges
  std::uint32_t count = 0;
  std::uint32_t words = 0;  // sum of what was told and shown, mixed

  void add(const Edge& edge) noexcept {
    hash += mixed(edge);
    words += mixed_words(edge);
    ++count;
  }
  void remove(const Edge& edge) noexcept {
    hash -= mixed(edge);
    words -= mixed_words(edge);
    --count;
  }
  // Whatever was told of members.
  bool same_edges(const EdgeSet& other) const noexcept {
    return hash == other.hash && count == other.count;
  }
  bool empty() const noexcept { return count == 0; }

  friend bool operator==(const EdgeSet&, const EdgeSet&) = default;

 private:
  static std::uint64_t mixed(const Edge& edge) noexcept {
    return mix64(edge.group.high64() ^ mix64(edge.path_hash));
  }
  static std::uint32_t mixed_words(const Edge& edge) noexcept {
    const std::uint64_t both = std::uint64_t{edge.told} << 32 | edge.shown;
    return static_cast<std::uint32_t>(mix64(edge.group.high64() ^ mix64(both)) >> 32);
  }
};

}  // namespace canopy::scribe
