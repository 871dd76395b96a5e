#include "pastry/node_state.hpp"

#include <algorithm>
#include <utility>

#include "base/mix.hpp"

namespace canopy::pastry {

namespace {

// Peers measured but in none of the sets whose distance stays known, so that
// the next mention of them costs no probe.
constexpr std::size_t spare_records = 32;
constexpr std::size_t about_as_far_max = 16;
constexpr int silent_intervals_max = 4;  // of probes of entries

// Long enough for everybody to have found out about a failure.
Duration quarantine_of(const Config& config) {
  const Duration detection =
      config.heartbeat_interval + (config.probe_retries + 2) * config.probe_timeout;
  return 2 * detection;
}

}  // namespace

NodeState::NodeState(const Config& configuration, PeerRef own_ref, wire::Env& environment)
    : config(configuration),
      self(own_ref),
      self_id(environment.peers().id(own_ref)),
      env(environment),
      leaves(self_id, configuration.leaf_set_size),
      table(self_id, configuration.b, environment.peers(), environment.peers()[own_ref].zone),
      neighborhood(configuration.neighborhood_size, environment.peers()),
      departed(configuration.departed_max, quarantine_of(configuration),
               configuration.departed_memory),
      relays(configuration, leaves, own_ref, environment),
      tuning(configuration),
      last_nonce_(static_cast<std::uint32_t>(environment.random().next())) {}

std::uint32_t NodeState::next_nonce() noexcept {
  if (++last_nonce_ == 0) ++last_nonce_;
  return last_nonce_;
}

bool NodeState::holds(PeerRef peer) const {
  return leaves.contains(peer) || table.contains(peer, id(peer)) || neighborhood.contains(peer);
}

std::size_t NodeState::watched() const {
  const auto all = leaves.all();
  return table.size() +
         static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [this](const Leaf& leaf) {
           return !table.contains(leaf.peer, leaf.id);
         }));
}

PeerRef NodeState::find(const Id& peer_id) const {
  if (peer_id == self_id) return {};
  if (const PeerRef leaf = leaves.find(peer_id)) return leaf;
  const PeerRef entry = table.towards(peer_id);
  if (entry && id(entry) == peer_id) return entry;
  const auto all = neighborhood.all();
  const auto near = std::find_if(all.begin(), all.end(),
                                 [&](const auto& entry_) { return id(entry_.peer) == peer_id; });
  return near == all.end() ? PeerRef() : near->peer;
}

bool NodeState::knows_beyond_leaves() const {
  if (met_beyond_leaves) return true;
  if (table.size() > leaves.size() || neighborhood.size() > leaves.size()) return true;
  const auto is_leaf = [this](const auto& entry) { return leaves.contains(entry.peer); };
  const auto entries = table.all();
  const auto near = neighborhood.all();
  return !std::all_of(entries.begin(), entries.end(), is_leaf) ||
         !std::all_of(near.begin(), near.end(), is_leaf);
}

// A full leaf set reaches one place farther than the neighbour's, on the side away from it.
std::uint32_t NodeState::ring_mark(PeerRef neighbor) const {
  const auto all = leaves.all();
  PeerRef beyond;
  if (leaves.full() && leaves.left() != leaves.right()) {
    const std::size_t outermost = leaves.side_size() - 1;
    beyond =
        neighbor == leaves.left() ? leaves.larger(outermost).peer : leaves.smaller(outermost).peer;
  }
  std::uint64_t sum = mix64(self_id.high64());
  for (const Leaf& leaf : all) {
    if (leaf.peer != beyond) sum += mix64(leaf.id.high64());
  }
  const auto mark = static_cast<std::uint32_t>(sum >> 32);
  return mark == 0 ? 1 : mark;
}

wire::LeafProbe NodeState::leaf_probe(std::uint32_t nonce, bool reply) const {
  wire::LeafProbe probe{
      nonce, reply, active, {}, departed.in_quarantine(now()), tuning.own_seconds()};
  probe.leaves.reserve(leaves.size());
  for (const Leaf& leaf : leaves.all()) probe.leaves.push_back(leaf.peer);
  return probe;
}

// By the triangle inequality, whoever is near to the asker is about as far from
// here as the asker is; where round trips are mostly ways to and from a site's
// only link, few others are (the rings of Wong, Slivkins, Sirer, "Meridian", 2005).
wire::Peers NodeState::neighbors_for(PeerRef asker) const {
  wire::Peers peers;
  const Duration interval = tuning.interval();
  for (const auto& neighbor : neighborhood.all()) {
    // Nobody probes them: who is long silent is dead more often than not, and would
    // be measured in vain by all who ask.
    const auto silence = proximity.silence(neighbor.peer, now());
    if (silence && *silence <= silent_intervals_max * interval) peers.push_back(neighbor.peer);
  }
  const std::uint32_t distance = proximity.distance(asker);
  if (distance == unknown_distance) return peers;
  for (const PeerRef peer : proximity.about_as_far_as(distance, about_as_far_max)) {
    if (peer != asker && !neighborhood.contains(peer)) peers.push_back(peer);
  }
  return peers;
}

void NodeState::measured(PeerRef peer, Duration round_trip) {
  proximity.sample(peer, round_trip, now());
  const std::size_t members = leaves.size() + table.size() + neighborhood.size();
  if (proximity.size() > members + spare_records) {
    proximity.trim([&](PeerRef known) { return known == peer || holds(known); });
  }
}

void NodeState::trim_proximity() {
  proximity.trim([this](PeerRef known) { return holds(known); });
}

void NodeState::offer_measured(PeerRef peer) {
  const std::uint32_t distance = proximity.distance(peer);
  if (distance == unknown_distance || is_self(peer)) return;
  table.insert(peer, id(peer), distance);
  neighborhood.insert(peer, id(peer), distance);
}

}  // namespace canopy::pastry
