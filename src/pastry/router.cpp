#include "pastry/router.hpp"

#include "pastry/planted_bug.hpp"

namespace canopy::pastry {

Router::Hop Router::next_hop(const Id& key, const Except& except) const {
  if (!state_.knows_beyond_leaves() || state_.leaves.spans(key)) {
    return {state_.leaves.closest(key, except), Rule::leaf_set};
  }
  const PeerRef entry = state_.table.towards(key);
  if (entry && planted_bug != PlantedBug::table_passed_over &&
      !except.covers({state_.id(entry), entry}, key) && !prober_.suspected(entry)) {
    return {entry, Rule::table};
  }
  if (const PeerRef peer = rare_case(key, except, false)) return {peer, Rule::rare};
  return {rare_case(key, except, true), Rule::rare};
}

PeerRef Router::rare_case(const Id& key, const Except& except, bool suspects) const {
  const unsigned b = state_.config.b;
  const unsigned prefix = shared_prefix_length(state_.self_id, key, b);
  PeerRef best;
  Id best_id = state_.self_id;
  const auto consider = [&](PeerRef peer, const Id& id) {
    if (!closer_to(key, id, best_id) || shared_prefix_length(id, key, b) < prefix) return;
    if (except.covers({id, peer}, key) || (!suspects && prober_.suspected(peer))) return;
    best = peer;
    best_id = id;
  };
  for (const Leaf& leaf : state_.leaves.all()) consider(leaf.peer, leaf.id);
  for (const auto& entry : state_.table.all()) consider(entry.peer, state_.id(entry.peer));
  for (const auto& entry : state_.neighborhood.all()) consider(entry.peer, state_.id(entry.peer));
  return best;
}

}  // namespace canopy::pastry
