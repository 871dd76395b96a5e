#include "pastry/prober.hpp"

#include <algorithm>

namespace canopy::pastry {

namespace {

// A peer that is heard from but answers no probe is asked this often anew.
constexpr std::uint8_t rounds_max = 3;
// A candidate that is but to be measured, because somebody named it, is dead more
// often than not if it does not answer.
constexpr unsigned stranger_tries_max = 2;

}  // namespace

const Prober::Pending* Prober::find(PeerRef peer) const noexcept {
  const auto at = std::find_if(pending_.begin(), pending_.end(),
                               [peer](const Pending& pending) { return pending.peer == peer; });
  return at == pending_.end() ? nullptr : &*at;
}

Prober::Pending* Prober::find(PeerRef peer) noexcept {
  return const_cast<Pending*>(static_cast<const Prober*>(this)->find(peer));
}

void Prober::send(Pending& pending) {
  pending.previous_nonce = pending.nonce;
  pending.previous_sent = pending.sent;
  pending.nonce = state_.next_nonce();
  pending.sent = state_.now();
  const Config& config = state_.config;
  // A link slower than the profile expects gets the time that it takes.
  pending.deadline = pending.sent + state_.proximity.timeout(pending.peer, config.probe_timeout,
                                                             4 * config.probe_timeout);
  if (!state_.proximity.round_trip(pending.peer)) {
    pending.deadline = pending.sent + config.probe_timeout;
  }
  deadline_ = std::min(deadline_, pending.deadline);
  ++pending.tries;
  if ((pending.goals & goal::leaves) != 0) {
    ++state_.counters.leaf_probes_sent;
    state_.send(pending.peer, state_.leaf_probe(pending.nonce, false));
  } else {
    ++state_.counters.probes_sent;
    state_.send(pending.peer, wire::Probe{pending.nonce});
  }
}

void Prober::probe(PeerRef peer, Goals goals) {
  if (Pending* known = find(peer)) {
    const bool ask_leaves = (goals & ~known->goals & goal::leaves) != 0;
    known->goals |= goals;
    if (ask_leaves) send(*known);
    return;
  }
  if ((goals & goal::life) != 0) ++state_.counters.suspicions;
  Pending& added = pending_.emplace_back();
  added.peer = peer;
  added.goals = goals;
  send(added);
}

void Prober::try_once(PeerRef peer) {
  if (find(peer) != nullptr) return;
  probe(peer, goal::leaves);
  pending_.back().tries = static_cast<std::uint8_t>(state_.config.probe_retries + 1);
}

void Prober::confirm(PeerRef peer) {
  const bool known = find(peer) != nullptr;
  probe(peer, goal::life);
  const unsigned tries = state_.config.probe_retries + 1;
  if (!known && tries > sure_tries) {
    pending_.back().tries = static_cast<std::uint8_t>(tries - sure_tries + 1);
  }
}

void Prober::probe_with_news(PeerRef peer) {
  Pending* known = find(peer);
  if (known == nullptr || (known->goals & goal::leaves) == 0) {
    probe(peer, goal::leaves);
  } else {
    send(*known);
    --known->tries;
  }
}

Prober::Answer Prober::answered(PeerRef peer, std::uint32_t nonce, bool with_leaves) {
  Pending* pending = find(peer);
  if (pending == nullptr) return {};
  Answer answer{pending->goals, std::nullopt};
  if (nonce == pending->nonce) {
    answer.round_trip = state_.now() - pending->sent;
  } else if (nonce == pending->previous_nonce) {
    answer.round_trip = state_.now() - pending->previous_sent;
  }
  pending->heard = true;
  pending->goals &= static_cast<Goals>(~(goal::life | goal::presence));
  if (with_leaves) pending->goals &= static_cast<Goals>(~goal::leaves);
  if (answer.round_trip) pending->goals &= static_cast<Goals>(~goal::distance);
  if (pending->goals == 0) cancel(peer);
  return answer;
}

void Prober::heard(PeerRef peer) {
  if (pending_.empty()) return;
  Pending* pending = find(peer);
  if (pending == nullptr) return;
  pending->heard = true;
  pending->goals &= static_cast<Goals>(~(goal::life | goal::presence));
  if (pending->goals == 0) cancel(peer);
}

void Prober::cancel(PeerRef peer) {
  std::erase_if(pending_, [peer](const Pending& pending) { return pending.peer == peer; });
  if (!pending_.empty()) return;
  deadline_ = never;
  pending_.shrink_to_fit();  // a join's burst is not kept for ever
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
    if (pending.deadline > now) continue;
    const bool stranger = this->stranger(pending);
    const unsigned tries_max = this->tries_max(pending);
    if (pending.tries < tries_max) {
      send(pending);
    } else if (stranger) {
      unanswered.push_back(pending.peer);
    } else if (!pending.heard) {
      failed.push_back(pending.peer);
    } else if ((pending.goals & goal::leaves) != 0 && ++pending.rounds < rounds_max) {
      pending.tries = 0;
      pending.heard = false;
      send(pending);
    } else {
      unanswered.push_back(pending.peer);
    }
  }
  for (const PeerRef peer : failed) cancel(peer);
  for (const PeerRef peer : unanswered) cancel(peer);
  settle_deadline();
  return failed;
}

void Prober::start_over() {
  for (Pending& pending : pending_) {
    pending.tries = 0;
    send(pending);
  }
  settle_deadline();
}

void Prober::settle_deadline() noexcept {
  deadline_ = never;
  for (const Pending& pending : pending_) deadline_ = std::min(deadline_, pending.deadline);
}

void Prober::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Pending& pending : pending_) in_use.push_back(pending.peer);
}

}  // namespace canopy::pastry
