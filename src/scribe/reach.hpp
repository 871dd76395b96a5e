// Adding up who has a tracked multicast. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

constexpr std::size_t reach_peers_max = 16;  // that one Reach names

// The subtree below this peer is not known to have it.
void miss(wire::Reach& reach, PeerRef peer);
void miss_unnamed(wire::Reach& reach, std::uint64_t subtrees);

// What a child says of its subtree.
void add(wire::Reach& reach, PeerRef child, const wire::Reach& below);

inline bool nothing_missed(const wire::Reach& reach) noexcept {
  return reach.unreachable.empty() && reach.more == 0;
}

}  // namespace canopy::scribe
