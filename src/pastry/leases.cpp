#include "pastry/leases.hpp"

#include <algorithm>
#include <utility>

namespace canopy::pastry {

namespace {

constexpr int return_timeouts = 4;  // after which silent leaves are not waited for any more

}  // namespace

void Leases::look_at_neighbors() {
  const PeerRef left = state_.leaves.left();
  const PeerRef right = state_.leaves.right() == left ? PeerRef() : state_.leaves.right();
  if (left_.peer == left && right_.peer == right) return;
  const Neighbor before[] = {left_, right_};
  const auto taken_over = [this, &before](PeerRef peer) {
    for (const Neighbor& known : before) {
      if (peer && known.peer == peer) return known;
    }
    return Neighbor{.peer = peer, .met = state_.now()};
  };
  left_ = taken_over(left);
  right_ = taken_over(right);
  renewed_ = true;  // there may be fewer to wait for
}

Leases::Neighbor* Leases::find(PeerRef peer) noexcept {
  if (!peer) return nullptr;
  look_at_neighbors();
  if (left_.peer == peer) return &left_;
  return right_.peer == peer ? &right_ : nullptr;
}

bool Leases::valid(const Neighbor& neighbor) const {
  return !neighbor.peer || state_.now() < neighbor.until;
}

// What the neighbour grants may be shorter than this node's own leases.
Duration Leases::renewal(const Neighbor& neighbor) const {
  return std::min(state_.config.heartbeat_interval, (neighbor.until - neighbor.since) * 2 / 3);
}

// No need to ask for it yet when there is an occasion.
bool Leases::fresh(const Neighbor& neighbor) const {
  return neighbor.since >= state_.now() - renewal(neighbor) / 2;
}

bool Leases::held() {
  if (!state_.config.maintenance) return true;
  look_at_neighbors();
  return unheard_.empty() && valid(left_) && valid(right_);
}

bool Leases::neighbor_since(PeerRef peer, MonoTime then) {
  const Neighbor* neighbor = find(peer);
  return neighbor != nullptr && neighbor->met <= then;
}

// --- Being told ---

void Leases::renew(Neighbor& neighbor, MonoTime since, Duration lease) {
  renewed_ |= !valid(neighbor);
  neighbor.number = 0;
  if (since < neighbor.since) return;
  neighbor.since = since;
  neighbor.until = since + std::min(lease, state_.config.lease);
}

void Leases::met_newcomer(PeerRef peer) {
  Neighbor* neighbor = find(peer);
  if (neighbor != nullptr && neighbor->since == MonoTime::min()) {
    renew(*neighbor, state_.now(), state_.config.lease);
  }
}

void Leases::answered(PeerRef peer, MonoTime sent) {
  Neighbor* neighbor = find(peer);
  if (neighbor == nullptr) return;
  const bool first = neighbor->since == MonoTime::min();
  renew(*neighbor, sent, first ? state_.config.lease : neighbor->until - neighbor->since);
}

// Nonces are counted, and begin anew after the largest.
void Leases::told_leaves(PeerRef peer, std::uint32_t nonce) {
  if (unheard_.empty() || static_cast<std::int32_t>(nonce - nonce_awake_) < 0) return;
  std::erase(unheard_, peer);
  renewed_ |= unheard_.empty();
}

// Whoever is not in the leaf set is granted nothing.
void Leases::on_heartbeat(PeerRef from, const wire::Heartbeat& heartbeat) {
  Neighbor* neighbor = find(from);
  if (neighbor != nullptr && heartbeat.echo != 0 && heartbeat.echo == neighbor->number) {
    renew(*neighbor, neighbor->sent, std::chrono::milliseconds(heartbeat.lease_ms));
  }
  if (heartbeat.number != 0 && state_.leaves.contains(from)) {
    answer(from, neighbor, heartbeat.number);
  }
  if (neighbor != nullptr && heartbeat.mark != 0 && state_.active) {
    compare(*neighbor, heartbeat.mark);
  }
}

// News is on its way to both, and does not arrive at once.
void Leases::compare(Neighbor& neighbor, std::uint32_t mark) {
  const MonoTime now = state_.now();
  if (mark == state_.ring_mark(neighbor.peer)) {
    neighbor.differs_since = never;
    if (&neighbor == &left_) {
      state_.agreeing = neighbor.peer;
      state_.agreed_at = now;
    }
  } else if (neighbor.differs_since == never) {
    neighbor.differs_since = now;
  } else if (now - neighbor.differs_since >= state_.config.heartbeat_interval / 2) {
    neighbor.differs_since = never;
    prober_.probe(neighbor.peer, goal::leaves);
  }
}

// An own heartbeat that is under way is not overtaken: two that ask each other at
// once would go on for ever.
void Leases::answer(PeerRef peer, Neighbor* asked, std::uint32_t number) {
  const auto lease = std::chrono::duration_cast<std::chrono::milliseconds>(state_.config.lease);
  const std::uint32_t mark = state_.active ? state_.ring_mark(peer) : 0;
  wire::Heartbeat heartbeat{0, number, static_cast<std::uint32_t>(lease.count()), mark};
  if (state_.active && asked != nullptr && asked->number == 0 && !fresh(*asked)) {
    heartbeat.number = begin(*asked);
  }
  ++state_.counters.heartbeats_sent;
  state_.send(peer, heartbeat);
}

bool Leases::take_renewed() {
  check_return();
  return std::exchange(renewed_, false);
}

bool Leases::start_over() {
  look_at_neighbors();
  for (Neighbor* neighbor : {&left_, &right_}) neighbor->number = 0;
  if (unheard_.empty() && valid(left_) && valid(right_)) return false;
  woke_at_ = state_.now();
  nonce_awake_ = state_.next_nonce();
  unheard_.clear();
  for (const Leaf& leaf : state_.leaves.all()) unheard_.push_back(leaf.peer);
  return true;
}

MonoTime Leases::returned_by() const {
  return woke_at_ + return_timeouts * state_.config.probe_timeout;
}

void Leases::check_return() {
  if (unheard_.empty()) return;
  std::erase_if(unheard_, [this](PeerRef peer) { return !state_.leaves.contains(peer); });
  if (state_.now() >= returned_by()) unheard_.clear();
  renewed_ |= unheard_.empty();
}

// --- Asking ---

std::uint32_t Leases::begin(Neighbor& neighbor) {
  neighbor.number = state_.next_nonce();
  neighbor.sent = state_.now();
  return neighbor.number;
}

// The right neighbour asks by itself, and is asked in turn then.
Duration Leases::age_allowed(const Neighbor& neighbor) const {
  const Duration span = renewal(neighbor);
  return &neighbor == &left_ ? span : span + std::min(state_.config.probe_timeout, span / 4);
}

MonoTime Leases::due(const Neighbor& neighbor) const {
  if (!neighbor.peer) return never;
  if (prober_.pending(neighbor.peer, goal::life | goal::leaves)) return never;
  if (neighbor.number != 0) {
    const Duration timeout = state_.config.probe_timeout;
    return neighbor.sent + state_.proximity.timeout(neighbor.peer, timeout, 4 * timeout);
  }
  return neighbor.since == MonoTime::min() ? state_.now() : neighbor.since + age_allowed(neighbor);
}

void Leases::tick() {
  look_at_neighbors();
  for (Neighbor* neighbor : {&left_, &right_}) {
    if (due(*neighbor) > state_.now()) continue;
    if (neighbor->number == 0) {
      ++state_.counters.heartbeats_sent;
      state_.send(neighbor->peer,
                  wire::Heartbeat{begin(*neighbor), 0, 0, state_.ring_mark(neighbor->peer)});
    } else {
      neighbor->number = 0;  // asks again if the answer brings no lease
      prober_.probe(neighbor->peer, goal::life | goal::leaves);
    }
  }
}

MonoTime Leases::deadline() {
  look_at_neighbors();
  return std::min({due(left_), due(right_), unheard_.empty() ? never : returned_by()});
}

}  // namespace canopy::pastry
