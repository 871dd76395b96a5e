#include "pastry/measurer.hpp"

#include <algorithm>

namespace canopy::pastry {

bool Measurer::add(PeerRef peer) {
  if (state_.is_self(peer) || state_.departed.in_quarantine(peer, state_.now())) return false;
  if (state_.proximity.distance(peer) != unknown_distance) {
    state_.offer_measured(peer);
    return true;
  }
  if (prober_.pending(peer, goal::distance)) return true;
  if (std::find(waiting_.begin(), waiting_.end(), peer) != waiting_.end()) return true;
  if (waiting_.size() >= state_.config.measurements_max) {
    ++state_.counters.probe_drops;
    return true;
  }
  waiting_.insert(waiting_.begin(), peer);
  return true;
}

void Measurer::advance() {
  if (waiting_.empty()) return;
  std::size_t under_way = prober_.outstanding(goal::distance);
  while (!waiting_.empty() && under_way < state_.config.measurements_at_once) {
    const PeerRef peer = waiting_.back();
    waiting_.pop_back();
    if (state_.proximity.distance(peer) != unknown_distance) continue;
    ++state_.counters.measurements;
    ++under_way;
    prober_.probe(peer, goal::distance);
  }
  if (waiting_.empty()) waiting_.shrink_to_fit();
}

void Measurer::collect_peers(std::vector<PeerRef>& in_use) const {
  in_use.insert(in_use.end(), waiting_.begin(), waiting_.end());
}

}  // namespace canopy::pastry
