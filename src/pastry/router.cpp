#include "pastry/router.hpp"

#include "pastry/planted_bug.hpp"

namespace canopy::pastry {

Router::Hop Router::next_hop(const Id& key, bool except_key) const {
  if (!state_.knows_beyond_leaves() || state_.leaves.spans(key)) {
    return {state_.leaves.closest(key, except_key), Rule::leaf_set};
  }
  const PeerRef entry = state_.table.towards(key);
  const bool passed_over = planted_bug == PlantedBug::table_passed_over ||
                           (except_key && entry && state_.id(entry) == key);
  if (entry && !passed_over && !prober_.suspected(entry)) {
    return {entry, Rule::table};
  }
  if (const PeerRef peer = rare_case(key, except_key, false)) return {peer, Rule::rare};
  return {rare_case(key, except_key, true), Rule::rare};
}

PeerRef Router::rare_case(const Id& key, bool except_key, bool suspects) const {
  const unsigned b = state_.config.b;
  const unsigned prefix = shared_prefix_length(state_.self_id, key, b);
  PeerRef best;
  Id best_id = state_.self_id;
  const auto consider = [&](PeerRef peer, const Id& id) {
    if (!closer_to(key, id, best_id) || shared_prefix_length(id, key, b) < prefix) return;
    if ((except_key && id == key) || (!suspects && prober_.suspected(peer))) return;
    best = peer;
    best_id = id;
  };
  for (const Leaf& leaf : state_.leaves.all()) consider(leaf.peer, leaf.id);
  for (const auto& entry : state_.table.all()) consider(entry.peer, state_.id(entry.peer));
  for (const auto& entry : state_.neighborhood.all()) consider(entry.peer, state_.id(entry.peer));
  return best;
}

}  // namespace canopy::pastry
