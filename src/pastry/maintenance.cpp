#include "pastry/maintenance.hpp"

#include <algorithm>

namespace canopy::pastry {

namespace {

constexpr double jitter = 0.1;
constexpr Duration entry_round_min = 1s;      // so long a few may be late
constexpr std::uint64_t agreeing_rounds = 8;  // of which one compares leaf sets all the same
constexpr std::size_t closest_asked = 2;      // of each row
constexpr std::size_t nearest_asked = 3;

Duration random_part(Random& random, Duration span) {
  return Duration(static_cast<std::int64_t>(random.unit() * static_cast<double>(span.count())));
}

}  // namespace

void Maintenance::start() {
  Random& random = state_.env.random();
  leaf_round_ = state_.now() + random_part(random, state_.config.leaf_maintenance_interval);
  row_round_ = state_.now() + random_part(random, state_.config.row_maintenance_interval);
  entry_round_ = state_.now() + state_.config.entry_probe_min;
  state_.tuning.start(state_.now());
}

MonoTime Maintenance::deadline() const noexcept {
  return std::min({leaf_round_, row_round_, entry_round_});
}

void Maintenance::tick() {
  const MonoTime now = state_.now();
  Random& random = state_.env.random();
  if (leaf_round_ <= now) {
    leaf_round_ = now + random.jittered(state_.config.leaf_maintenance_interval, jitter);
    compare_leaf_sets();
  }
  if (row_round_ <= now) {
    row_round_ = now + random.jittered(state_.config.row_maintenance_interval, jitter);
    refresh_rows();
  }
  if (entry_round_ <= now) look_at_entries();
}

// Whoever was heard from, whatever it said, has its turn later.
void Maintenance::look_at_entries() {
  const MonoTime now = state_.now();
  state_.tuning.update(now, estimated_nodes(state_.leaves, state_.self_id), state_.watched());
  const Duration interval = state_.tuning.interval();
  Duration next = std::min(interval, state_.config.leaf_maintenance_interval);
  for (const auto& entry : state_.table.all()) {
    const auto silence = state_.proximity.silence(entry.peer, now);
    if (silence && *silence < interval) {
      next = std::min(next, interval - *silence);
    } else {
      ++state_.counters.entry_probes;
      prober_.probe(entry.peer, goal::presence);
    }
  }
  entry_round_ = now + std::max(next, entry_round_min);
}

void Maintenance::leaf_lost() {
  ++leaves_lost_;
  state_.agreeing = {};  // on what is no more
  compare_soon();
}

void Maintenance::compare_soon() {
  const Duration soon = state_.env.random().jittered(state_.config.heartbeat_interval, 2 * jitter);
  leaf_round_ = std::min(leaf_round_, state_.now() + soon);
}

// In a larger ring than this, leaf sets are full.
bool Maintenance::leaves_missing() const {
  return !state_.leaves.full() && state_.knows_beyond_leaves();
}

// Their heartbeats compare leaf sets as well.
bool Maintenance::left_agrees() const {
  return state_.agreeing && state_.agreeing == state_.leaves.left() &&
         state_.now() - state_.agreed_at < state_.config.leaf_maintenance_interval;
}

void Maintenance::compare_leaf_sets() {
  Random& random = state_.env.random();
  if (!state_.leaves.empty() && (!left_agrees() || random.below(agreeing_rounds) == 0)) {
    prober_.probe(state_.leaves.left(), goal::leaves);
    const auto all = state_.leaves.all();
    prober_.probe(all[random.below(all.size())].peer, goal::leaves);
  }
  leaves_lost_ /= 2;
  if (!state_.leaves.empty() && (leaves_lost_ > 0 || leaves_missing())) {
    const std::size_t extreme = state_.leaves.short_side_size() - 1;
    prober_.probe(state_.leaves.larger(extreme).peer, goal::leaves);
    prober_.probe(state_.leaves.smaller(extreme).peer, goal::leaves);
    compare_soon();
  }
  if (const PeerRef lost = state_.departed.pick(random, state_.now())) {
    prober_.try_once(lost);
  }
}

void Maintenance::refresh_rows() {
  row_nonce_ = state_.next_nonce();
  for (unsigned index = 0; index < state_.table.rows(); ++index) {
    const auto row = state_.table.row(index);
    if (row.empty()) continue;
    const PeerRef any = row[state_.env.random().below(row.size())].peer;
    auto asked = state_.table.closest_in_row(index, closest_asked);
    if (std::find(asked.begin(), asked.end(), any) == asked.end()) asked.push_back(any);
    for (const PeerRef peer : asked) ask(peer, wire::StatePart::row, index);
  }
  const auto near = state_.neighborhood.all();
  for (const auto& neighbor : near.first(std::min(near.size(), nearest_asked))) {
    ask(neighbor.peer, wire::StatePart::neighborhood, 0);
  }
}

void Maintenance::ask(PeerRef peer, wire::StatePart part, unsigned row) {
  state_.send(peer, wire::StateRequest{
                        .nonce = row_nonce_, .part = part, .row = static_cast<std::uint8_t>(row)});
}

bool Maintenance::on_state_reply(const wire::StateReply& reply) {
  if (row_nonce_ == 0 || reply.nonce != row_nonce_) return false;
  for (const PeerRef peer : reply.peers) measurer_.add(peer);
  return true;
}

}  // namespace canopy::pastry
