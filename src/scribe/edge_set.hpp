// The tree edges between two neighbours in one direction, as an
// order-independent hash and a count: what a heartbeat says about them. Two ends
// that agree share the same groups, and the child knows the path from the root
// that its parent has told. Plain values.
#pragma once

#include <cstdint>

#include "base/id.hpp"
#include "base/peer.hpp"
#include "scribe/mix.hpp"
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
};

struct EdgeSet {
  std::uint64_t hash = 0;  // sum of the mixed edges
  std::uint32_t count = 0;

  void add(const Edge& edge) noexcept {
    hash += mixed(edge);
    ++count;
  }
  void remove(const Edge& edge) noexcept {
    hash -= mixed(edge);
    --count;
  }
  bool empty() const noexcept { return count == 0; }

  friend bool operator==(const EdgeSet&, const EdgeSet&) = default;

 private:
  static std::uint64_t mixed(const Edge& edge) noexcept {
    return mix64(edge.group.high64() ^ mix64(edge.path_hash));
  }
};

}  // namespace canopy::scribe
