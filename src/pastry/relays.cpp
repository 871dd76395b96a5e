#include "pastry/relays.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace canopy::pastry {

namespace {

constexpr std::size_t candidates_max = 4;

}  // namespace

const Relays::Relayed* Relays::find(PeerRef peer) const noexcept {
  const auto at = std::ranges::find(relayed_, peer, &Relayed::peer);
  return at == relayed_.end() ? nullptr : &*at;
}

Relays::Relayed* Relays::find(PeerRef peer) noexcept {
  return const_cast<Relayed*>(std::as_const(*this).find(peer));
}

bool Relays::contains(PeerRef peer) const noexcept { return find(peer) != nullptr; }

// --- Sending ---

PeerRef Relays::first_hop(PeerRef peer) const noexcept {
  if (came_by_relay(peer)) return handled_relay_;
  const Relayed* relayed = find(peer);
  return relayed == nullptr ? peer : relayed->relay;
}

void Relays::send(PeerRef to, wire::Message message) {
  send_through(first_hop(to), to, std::move(message));
}

void Relays::answer(PeerRef to, wire::Message message) {
  send_through(came_by_relay(to) ? handled_relay_ : to, to, std::move(message));
}

void Relays::send_through(PeerRef relay, PeerRef to, wire::Message message) {
  if (relay == to) return env_.send(to, std::move(message));
  env_.send(relay,
            wire::Relay{self_, to, std::make_shared<const wire::Message>(std::move(message)), {}});
}

std::vector<PeerRef> Relays::candidates(PeerRef peer) const {
  std::vector<Leaf> others;
  for (const Leaf& leaf : leaves_.all()) {
    if (leaf.peer != peer && !contains(leaf.peer)) others.push_back(leaf);
  }
  const std::size_t count = std::min(candidates_max, others.size());
  const Id& id = env_.peers().id(peer);
  std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(count),
                    others.end(),
                    [&id](const Leaf& a, const Leaf& b) { return closer_to(id, a.id, b.id); });
  std::vector<PeerRef> nearest;
  for (std::size_t i = 0; i < count; ++i) nearest.push_back(others[i].peer);
  return nearest;
}

// --- What is being handled ---

void Relays::handle(PeerRef from, PeerRef relay) noexcept {
  handled_from_ = from;
  handled_relay_ = relay;
}

// --- Peers that are relayed ---

void Relays::add(PeerRef peer, PeerRef relay) {
  if (Relayed* known = find(peer)) {
    known->relay = relay;
  } else {
    relayed_.push_back({peer, relay, env_.now() + config_.heartbeat_interval});
  }
}

void Relays::refresh(PeerRef peer) noexcept {
  if (Relayed* relayed = find(peer)) relayed->relay = handled_relay_;
}

bool Relays::answered(PeerRef peer, std::uint32_t nonce) {
  const Relayed* relayed = find(peer);
  if (relayed == nullptr || relayed->nonce != nonce || came_by_relay(peer)) return false;
  std::erase_if(relayed_, [peer](const Relayed& known) { return known.peer == peer; });
  return true;
}

void Relays::remove(PeerRef peer) {
  std::erase_if(relayed_, [peer](const Relayed& relayed) { return relayed.peer == peer; });
  for (Relayed& relayed : relayed_) {
    if (relayed.relay != peer) continue;
    const std::vector<PeerRef> others = candidates(relayed.peer);
    relayed.relay = others.empty() ? relayed.peer : others.front();
  }
}

void Relays::tick(std::uint32_t nonce) {
  std::erase_if(relayed_,
                [this](const Relayed& relayed) { return !leaves_.contains(relayed.peer); });
  for (Relayed& relayed : relayed_) {
    if (relayed.next_try > env_.now()) continue;
    relayed.next_try = env_.now() + config_.heartbeat_interval;
    relayed.nonce = nonce;
    env_.send(relayed.peer, wire::Probe{nonce});
  }
}

MonoTime Relays::deadline() const noexcept {
  MonoTime earliest = never;
  for (const Relayed& relayed : relayed_) earliest = std::min(earliest, relayed.next_try);
  return earliest;
}

void Relays::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Relayed& relayed : relayed_) {
    in_use.push_back(relayed.peer);
    in_use.push_back(relayed.relay);
  }
}

}  // namespace canopy::pastry
