#include "pastry/neighborhood_set.hpp"

#include <algorithm>

namespace canopy::pastry {

NeighborhoodSet::NeighborhoodSet(unsigned size, const PeerTable& peers)
    : capacity_(size), peers_(&peers) {}

bool NeighborhoodSet::insert(PeerRef peer, const Id& id, std::uint32_t distance_us) {
  const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.peer == peer || peers_->id(entry.peer) == id;
  });
  const bool known = same != entries_.end() && same->peer == peer;
  if (same != entries_.end()) entries_.erase(same);

  const auto at = std::partition_point(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.distance_us != distance_us ? entry.distance_us < distance_us
                                            : peers_->id(entry.peer) < id;
  });
  if (entries_.size() == capacity_) {
    if (at == entries_.end()) return false;
    std::move_backward(at, entries_.end() - 1, entries_.end());
    *at = {peer, distance_us};
    return true;
  }
  entries_.insert(at, {peer, distance_us});
  return !known;
}

bool NeighborhoodSet::remove(PeerRef peer) {
  return std::erase_if(entries_, [peer](const Entry& entry) { return entry.peer == peer; }) != 0;
}

bool NeighborhoodSet::contains(PeerRef peer) const noexcept {
  return std::any_of(entries_.begin(), entries_.end(),
                     [peer](const Entry& entry) { return entry.peer == peer; });
}

bool NeighborhoodSet::would_take(std::uint32_t distance_us) const noexcept {
  if (entries_.size() < capacity_) return true;
  return !entries_.empty() && distance_us < entries_.back().distance_us;
}

}  // namespace canopy::pastry
