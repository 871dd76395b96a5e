#include "scribe/reach.hpp"

#include <algorithm>

namespace canopy::scribe {

void miss(wire::Reach& reach, PeerRef peer) {
  if (std::ranges::find(reach.unreachable, peer) != reach.unreachable.end()) return;
  if (peer && reach.unreachable.size() < reach_peers_max) {
    reach.unreachable.push_back(peer);
  } else {
    ++reach.more;
  }
}

void miss_unnamed(wire::Reach& reach, std::uint64_t subtrees) { reach.more += subtrees; }

void add(wire::Reach& reach, PeerRef child, const wire::Reach& below) {
  reach.members += below.members;
  if (below.complete) return;
  if (nothing_missed(below)) return miss(reach, child);
  for (const PeerRef peer : below.unreachable) miss(reach, peer);
  reach.more += below.more;
}

}  // namespace canopy::scribe
