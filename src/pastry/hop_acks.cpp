#include "pastry/hop_acks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "pastry/body_peers.hpp"

namespace canopy::pastry {

Duration HopAcks::timeout(PeerRef to, unsigned tries) const {
  const Config& config = state_.config;
  const Duration first =
      state_.proximity.tight_timeout(to, config.hop_ack_timeout_min, config.hop_ack_timeout_max);
  const unsigned doublings = std::min(tries - 1, 8U);
  return std::min(first * (1 << doublings), config.hop_ack_timeout_max);
}

void HopAcks::add(PeerRef to, PeerRef from, wire::Routed& message) {
  await(to, from, message, state_.now());
}

void HopAcks::add_elsewhere(PeerRef to, Pending& pending) {
  await(to, pending.from, pending.message, pending.begun);
}

void HopAcks::await(PeerRef to, PeerRef from, wire::Routed& message, MonoTime begun) {
  message.hop_id = 0;
  const std::size_t bytes = wire::size_estimate(*message.body);
  if (!room_.has_room_for(bytes)) {
    ++state_.counters.unacked_hops;
    return;
  }
  if (++last_hop_id_ == 0) ++last_hop_id_;
  message.hop_id = last_hop_id_;
  const MonoTime now = state_.now();
  const MonoTime deadline = now + timeout(to, 1);
  room_.take(bytes);
  pending_.push_back({to, from, 1, begun, now, deadline, message});
  deadline_ = std::min(deadline_, deadline);
}

void HopAcks::add_again(Pending pending) {
  if (pending.tries < std::numeric_limits<std::uint8_t>::max()) ++pending.tries;
  pending.sent = state_.now();
  pending.deadline = pending.sent + timeout(pending.to, pending.tries);
  deadline_ = std::min(deadline_, pending.deadline);
  room_.take(wire::size_estimate(*pending.message.body));
  pending_.push_back(std::move(pending));
}

std::optional<Duration> HopAcks::acked(PeerRef from, std::uint32_t hop_id) {
  const auto at = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    return pending.message.hop_id == hop_id && pending.to == from;
  });
  if (at == pending_.end()) return std::nullopt;
  std::optional<Duration> round_trip;
  if (at->tries == 1) round_trip = state_.now() - at->sent;
  room_.give_back(wire::size_estimate(*at->message.body));
  pending_.erase(at);
  if (pending_.empty()) {
    deadline_ = never;
    pending_.shrink_to_fit();
  }
  return round_trip;
}

template <typename Condition>
std::vector<HopAcks::Pending> HopAcks::take_if(Condition condition) {
  const auto kept =
      std::stable_partition(pending_.begin(), pending_.end(),
                            [&](const Pending& pending) { return !condition(pending); });
  std::vector<Pending> taken(std::make_move_iterator(kept),
                             std::make_move_iterator(pending_.end()));
  for (const Pending& pending : taken) room_.give_back(wire::size_estimate(*pending.message.body));
  pending_.erase(kept, pending_.end());
  deadline_ = never;
  for (const Pending& pending : pending_) deadline_ = std::min(deadline_, pending.deadline);
  return taken;
}

std::vector<HopAcks::Pending> HopAcks::take_overdue() {
  const MonoTime now = state_.now();
  if (deadline_ > now) return {};
  return take_if([now](const Pending& pending) { return pending.deadline <= now; });
}

std::vector<HopAcks::Pending> HopAcks::take(PeerRef to) {
  if (pending_.empty()) return {};
  return take_if([to](const Pending& pending) { return pending.to == to; });
}

void HopAcks::start_over() {
  deadline_ = never;
  for (Pending& pending : pending_) {
    pending.begun = state_.now();
    pending.deadline = state_.now() + timeout(pending.to, pending.tries);
    deadline_ = std::min(deadline_, pending.deadline);
  }
}

void HopAcks::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Pending& pending : pending_) {
    in_use.push_back(pending.to);
    if (pending.from) in_use.push_back(pending.from);
    collect_body_peers(pending.message, in_use);
  }
}

bool SeenHops::first(PeerRef from, std::uint32_t hop_id) {
  const Hop hop{from, hop_id};
  if (std::find(hops_.begin(), hops_.end(), hop) != hops_.end()) return false;
  hops_[next_] = hop;
  next_ = static_cast<std::uint8_t>((next_ + 1U) % size);
  return true;
}

void SeenHops::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Hop& hop : hops_) {
    if (hop.from) in_use.push_back(hop.from);
  }
}

}  // namespace canopy::pastry
