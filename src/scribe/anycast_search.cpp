#include "scribe/anycast_search.hpp"

#include <algorithm>

namespace canopy::scribe {

bool is_among(const wire::Peers& peers, PeerRef peer) {
  return std::ranges::find(peers, peer) != peers.end();
}

SearchStep next_step(wire::Anycast& message, PeerRef self, PeerRef parent,
                     const wire::Peers& children_nearest_first, std::size_t visits_max) {
  SearchStep step;
  if (!is_among(message.visited, self)) message.visited.push_back(self);

  wire::Peers found;  // nearest first
  const auto note = [&](PeerRef peer) {
    if (is_among(message.visited, peer) || is_among(message.to_visit, peer)) return;
    if (message.visited.size() + message.to_visit.size() + found.size() >= visits_max) {
      step.cut_short = true;
      return;
    }
    found.push_back(peer);
  };
  for (const PeerRef child : children_nearest_first) note(child);
  if (parent) note(parent);
  message.to_visit.insert(message.to_visit.end(), found.rbegin(), found.rend());

  if (message.visited.size() >= visits_max || message.to_visit.empty()) {
    step.cut_short |= !message.to_visit.empty();
    return step;
  }
  step.next = message.to_visit.back();
  message.to_visit.pop_back();
  return step;
}

}  // namespace canopy::scribe
