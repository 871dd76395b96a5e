#include "pastry/prober.hpp"

#include <algorithm>

#include "base/rare.hpp"

namespace canopy::pastry {

namespace {

// A peer that is heard from but answers no probe is asked this often anew.
constexpr std::uint8_t rounds_max = 3;
// A candidate that is but to be measured, because somebody named it, is dead more
// often than not if it does not answer.
constexpr unsigned stranger_tries_max = 2;
// So long the last try is left to the direct way: most are answered at once.
constexpr int direct_part = 4;  // of its timeout

}  // namespace

const Prober::Pending* Prober::find(PeerRef peer) const noexcept {
  const auto at = std::find_if(pending_.begin(), pending_.end(),
                               [peer](const Pending& pending) { return pending.peer == peer; });
  return at == pending_.end() ? nullptr : &*at;
}

Prober::Pending* Prober::find(PeerRef peer) noexcept {
  return const_cast<Pending*>(static_cast<const Prober*>(this)->find(peer));
}

// --- Sending, and waiting for it ---

unsigned Prober::rank(const Pending& pending) const {
  const bool leaf = state_.leaves.contains(pending.peer);
  if ((pending.goals & goal::leaves) != 0) return pending.candidate ? 1 : 0;
  if ((pending.goals & goal::life) != 0) return leaf ? 0 : 2;
  if ((pending.goals & goal::presence) != 0) return leaf ? 0 : 3;
  return 4;
}

Id Prober::distance(const Pending& pending) const {
  const Id& id = state_.id(pending.peer);
  return std::min(id - state_.self_id, state_.self_id - id);
}

bool Prober::comes_before(const Pending& a, const Pending& b) const {
  const unsigned rank_a = rank(a);
  const unsigned rank_b = rank(b);
  if (rank_a != rank_b) return rank_a < rank_b;
  return a.candidate && b.candidate && distance(a) < distance(b);
}

// The least important of those that wait gives way.
bool Prober::make_room_for(const Pending& added) {
  if (waiting_ < state_.config.probes_waiting_max) return true;
  ++state_.counters.probe_drops;
  const Pending* last = nullptr;
  for (const Pending& pending : pending_) {
    if (pending.waiting && pending.tries == 0 && (!last || !comes_before(pending, *last))) {
      last = &pending;
    }
  }
  if (!last || !comes_before(added, *last)) return false;
  cancel(last->peer);
  return true;
}

// `tries_spared` count as made.
void Prober::add(PeerRef peer, Goals goals, unsigned tries_spared) {
  Pending added;
  added.peer = peer;
  added.goals = goals;
  added.tries = static_cast<std::uint8_t>(tries_spared);
  added.candidate = (goals & goal::leaves) != 0 && !state_.holds(peer) &&
                    state_.leaves.would_take(state_.id(peer));
  if ((goals & goal::life) != 0) ++state_.counters.suspicions;
  if (!may_send() && !make_room_for(added)) return;
  want(pending_.emplace_back(added));
  send_waiting();
}

void Prober::want(Pending& pending) noexcept {
  if (pending.waiting) return;
  pending.waiting = true;
  pending.deadline = pending.others_at = never;
  ++waiting_;
  if (!may_send()) ++state_.counters.probes_delayed;
}

bool Prober::may_send() const noexcept { return next_send_ <= state_.now(); }

void Prober::send_waiting() {
  if (waiting_ > 0) {
    std::erase_if(pending_, [this](const Pending& pending) {
      const bool ousted = pending.waiting && pending.candidate && pending.tries == 0 &&
                          pending.goals == goal::leaves &&
                          !state_.leaves.would_take(state_.id(pending.peer));
      waiting_ -= ousted ? 1 : 0;
      return ousted;
    });
  }
  while (waiting_ > 0 && may_send()) {
    Pending* first = nullptr;
    for (Pending& pending : pending_) {
      if (pending.waiting && (!first || comes_before(pending, *first))) first = &pending;
    }
    send(*first);
  }
  if (waiting_ > 0) deadline_ = std::min(deadline_, next_send_);
}

void Prober::send(Pending& pending) {
  const Config& config = state_.config;
  const Duration interval = Duration(1s) / config.probes_per_second;
  const auto at_once = std::max<std::int64_t>(config.probes_per_second / 2, config.leaf_set_size);
  next_send_ = std::max(next_send_, state_.now() - interval * (at_once - 1)) + interval;
  --waiting_;
  pending.waiting = pending.news = false;
  pending.previous_nonce = pending.nonce;
  pending.previous_sent = pending.sent;
  pending.nonce = state_.next_nonce();
  pending.sent = state_.now();
  // A link slower than the profile expects gets the time that it takes.
  pending.deadline = pending.sent + state_.proximity.timeout(pending.peer, config.probe_timeout,
                                                             4 * config.probe_timeout);
  if (!state_.proximity.round_trip(pending.peer)) {
    pending.deadline = pending.sent + config.probe_timeout;
  }
  ++pending.tries;
  pending.others_at = by_others_too(pending)
                          ? pending.sent + (pending.deadline - pending.sent) / direct_part
                          : never;
  deadline_ = std::min({deadline_, pending.deadline, pending.others_at});
  send_through(pending.peer, pending);
  const PeerRef relay = state_.relays.first_hop(pending.peer);
  if (relay != pending.peer) send_through(relay, pending);
}

void Prober::send_through(PeerRef relay, const Pending& pending) {
  Relays& relays = state_.relays;
  if ((pending.goals & goal::leaves) != 0) {
    ++state_.counters.leaf_probes_sent;
    relays.send_through(relay, pending.peer, state_.leaf_probe(pending.nonce, false));
  } else {
    ++state_.counters.probes_sent;
    relays.send_through(relay, pending.peer, wire::Probe{pending.nonce});
  }
}

// The last try for a neighbour on the ring.
bool Prober::by_others_too(const Pending& pending) const {
  return pending.tries >= tries_max(pending) && pending.goals != goal::distance &&
         state_.leaves.is_next(state_.id(pending.peer));
}

void Prober::send_by_others(Pending& pending) {
  const Duration their_time = pending.deadline - pending.others_at;
  pending.others_at = never;
  const PeerRef known = state_.relays.first_hop(pending.peer);
  for (const PeerRef other : state_.relays.candidates(pending.peer)) {
    if (other == known || suspected(other)) continue;
    send_through(other, pending);
    pending.deadline = std::max(pending.deadline, state_.now() + their_time);
  }
}

// --- What is asked for ---

void Prober::probe(PeerRef peer, Goals goals) {
  Pending* known = find(peer);
  if (known == nullptr) return add(peer, goals);
  const bool ask_leaves = (goals & ~known->goals & goal::leaves) != 0;
  known->goals |= goals;
  if (!ask_leaves) return;
  want(*known);
  send_waiting();
}

void Prober::try_once(PeerRef peer) {
  if (find(peer) == nullptr) add(peer, goal::leaves, state_.config.probe_retries);
}

void Prober::confirm(PeerRef peer) {
  if (find(peer) != nullptr) return probe(peer, goal::life);
  const unsigned tries = state_.config.probe_retries + 1;
  add(peer, goal::life, tries - std::min(tries, sure_tries));
}

void Prober::probe_with_news(PeerRef peer) {
  Pending* known = find(peer);
  if (known == nullptr || (known->goals & goal::leaves) == 0) return probe(peer, goal::leaves);
  if (!known->waiting && known->tries > 0) --known->tries;
  known->news = true;
  want(*known);
  send_waiting();
}

Prober::Answer Prober::answered(PeerRef peer, std::uint32_t nonce, bool with_leaves) {
  Pending* pending = find(peer);
  if (pending == nullptr) return {};
  Answer answer{pending->goals, std::nullopt};
  if (came_round(peer)) return answer;
  if (state_.relays.came_by_relay(peer)) {
    // Says nothing of how far the peer is.
  } else if (nonce != 0 && nonce == pending->nonce) {
    answer.round_trip = state_.now() - pending->sent;
  } else if (nonce != 0 && nonce == pending->previous_nonce) {
    answer.round_trip = state_.now() - pending->previous_sent;
  }
  Goals told = goal::life | goal::presence;
  if (with_leaves && !pending->news) told |= goal::leaves;
  if (answer.round_trip) told |= goal::distance;
  satisfied(*pending, told);
  return answer;
}

void Prober::heard(PeerRef peer) {
  if (pending_.empty()) return;
  Pending* pending = find(peer);
  if (pending == nullptr) return;
  if (came_round(peer)) {
    if (!pending->relay) pending->relay = state_.relays.handled_relay();
  } else {
    satisfied(*pending, goal::life | goal::presence);
  }
}

// By a relay, but nothing says yet that the direct way is broken.
bool Prober::came_round(PeerRef peer) const noexcept {
  return state_.relays.came_by_relay(peer) && !state_.relays.contains(peer);
}

void Prober::satisfied(Pending& pending, Goals goals) {
  pending.heard = true;
  pending.goals &= static_cast<Goals>(~goals);
  if (pending.goals == 0) cancel(pending.peer);
}

void Prober::cancel(PeerRef peer) {
  std::erase_if(pending_, [this, peer](const Pending& pending) {
    if (pending.peer != peer) return false;
    waiting_ -= pending.waiting ? 1 : 0;
    return true;
  });
  if (!pending_.empty()) return;
  deadline_ = never;
  pending_.shrink_to_fit();  // a join's burst is not kept for ever
}

void Prober::cancel_all() {
  pending_.clear();
  waiting_ = 0;
}

bool Prober::pending(PeerRef peer, Goals goals) const noexcept {
  const Pending* found = find(peer);
  return found != nullptr && (found->goals & goals) != 0;
}

bool Prober::suspected(PeerRef peer) const noexcept {
  if (pending_.empty()) return false;
  const Pending* found = find(peer);
  return found != nullptr && !found->heard &&
         ((found->goals & goal::life) != 0 || found->tries > 1);
}

std::size_t Prober::outstanding(Goals goals) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(pending_.begin(), pending_.end(),
                    [goals](const Pending& pending) { return (pending.goals & goals) != 0; }));
}

std::vector<PeerRef> Prober::asked_for_leaves() const {
  std::vector<PeerRef> asked;
  for (const Pending& pending : pending_) {
    if ((pending.goals & goal::leaves) != 0) asked.push_back(pending.peer);
  }
  return asked;
}

bool Prober::stranger(const Pending& pending) const {
  return pending.goals == goal::distance && !state_.holds(pending.peer);
}

unsigned Prober::tries_max(const Pending& pending) const {
  const unsigned all = state_.config.probe_retries + 1;
  if (stranger(pending)) return stranger_tries_max;
  const bool entry = pending.goals == goal::presence && !state_.leaves.contains(pending.peer);
  return entry ? std::min(all, sure_tries) : all;
}

std::vector<PeerRef> Prober::expire() {
  std::vector<PeerRef> failed;
  const MonoTime now = state_.now();
  if (deadline_ > now) return failed;
  std::vector<PeerRef> unanswered;  // alive all the same
  for (Pending& pending : pending_) {
    if (pending.others_at <= now) send_by_others(pending);
    if (pending.deadline > now) continue;
    const bool stranger = this->stranger(pending);
    const unsigned tries_max = this->tries_max(pending);
    if (pending.tries < tries_max) {
      want(pending);
    } else if (pending.relay) {
      rare<"relays: a neighbour answers only by way of others">();
      ++state_.counters.peers_relayed;
      state_.relays.add(pending.peer, pending.relay);
      unanswered.push_back(pending.peer);
    } else if (stranger) {
      unanswered.push_back(pending.peer);
    } else if (!pending.heard) {
      failed.push_back(pending.peer);
    } else if ((pending.goals & goal::leaves) != 0 && ++pending.rounds < rounds_max) {
      pending.tries = 0;
      pending.heard = false;
      want(pending);
    } else {
      unanswered.push_back(pending.peer);
    }
  }
  for (const PeerRef peer : failed) cancel(peer);
  for (const PeerRef peer : unanswered) cancel(peer);
  send_waiting();
  settle_deadline();
  return failed;
}

void Prober::start_over() {
  for (Pending& pending : pending_) {
    pending.tries = 0;
    want(pending);
  }
  send_waiting();
  settle_deadline();
}

void Prober::settle_deadline() noexcept {
  deadline_ = waiting_ > 0 ? next_send_ : never;
  for (const Pending& pending : pending_) {
    deadline_ = std::min({deadline_, pending.deadline, pending.others_at});
  }
}

void Prober::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Pending& pending : pending_) in_use.push_back(pending.peer);
}

}  // namespace canopy::pastry
