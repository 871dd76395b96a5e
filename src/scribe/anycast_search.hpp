// The next step of an anycast's depth-first search through a tree.
//
// The search travels inside the message: `visited` keeps it from going round,
// `to_visit` is its stack, next one last. A pure function of the message and of
// one node's place in the tree.
#pragma once

#include <cstddef>

#include "base/peer.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

bool is_among(const wire::Peers& peers, PeerRef peer);

struct SearchStep {
  PeerRef next;            // empty: the search is over, without success
  bool cut_short = false;  // nodes were left out, for want of room in the message
};

// Leaves `self` behind: notes it as visited and its tree neighbours as still to
// visit, the children (which come nearest first) before the parent (empty at a
// root). The lists grow to `visits_max` nodes in all.
SearchStep next_step(wire::Anycast& message, PeerRef self, PeerRef parent,
                     const wire::Peers& children_nearest_first, std::size_t visits_max);

}  // namespace canopy::scribe
