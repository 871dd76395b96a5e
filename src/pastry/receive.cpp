// What each message does to a node.
#include <algorithm>
#include <utility>

#include "base/rare.hpp"
#include "pastry/pastry.hpp"
#include "pastry/planted_bug.hpp"
#include "pastry/turn.hpp"

namespace canopy::pastry {

namespace {

// An inactive contact asks joiners to come back after this.
constexpr std::uint32_t not_active_retry_ms = 100;

}  // namespace

class Pastry::Receiver {
 public:
  Receiver(Pastry& pastry, PeerRef from) : pastry_(pastry), from_(from) {}

  void operator()(wire::Heartbeat& heartbeat) {
    pastry_.welcome(from_);
    pastry_.leases_.on_heartbeat(from_, heartbeat);
    // A leaf that takes this node for its neighbour, and is wrong, does not know
    // who is between.
    const LeafSet& leaves = pastry_.state_.leaves;
    const bool neighbor = leaves.left() == from_ || leaves.right() == from_;
    if (pastry_.state_.active && !neighbor && leaves.contains(from_)) {
      pastry_.prober_.probe(from_, goal::leaves);
    }
  }
  void operator()(wire::Probe& probe) {
    const std::uint32_t tuning_s = pastry_.state_.tuning.own_seconds();
    pastry_.state_.relays.answer(from_, wire::ProbeReply{probe.nonce, tuning_s});
  }
  void operator()(wire::ProbeReply& reply) { pastry_.on_probe_reply(from_, reply); }
  void operator()(wire::DistanceReport& report) { pastry_.on_distance_report(from_, report); }
  void operator()(wire::LeafProbe& probe) { pastry_.on_leaf_probe(from_, probe); }
  void operator()(wire::StateRequest& request) { pastry_.on_state_request(from_, request); }
  void operator()(wire::StateReply& reply) { pastry_.on_state_reply(from_, reply); }
  void operator()(wire::RowAnnounce& announce) { pastry_.on_row_announce(from_, announce); }
  void operator()(wire::JoinReply& reply) { pastry_.on_join_reply(from_, reply); }
  void operator()(wire::JoinDeferred& deferred) { pastry_.on_join_deferred(from_, deferred); }
  void operator()(wire::JoinDone&) { pastry_.finish_help(from_); }
  void operator()(wire::Departure& departure) { pastry_.on_departure(from_, departure); }
  void operator()(wire::HopAck& ack) { pastry_.on_hop_ack(from_, ack); }
  void operator()(wire::RouteTraceReply& reply) {
    if (pastry_.inspection_) pastry_.inspection_->traces.on_reply(reply);
  }
  void operator()(wire::Routed& routed) { pastry_.on_routed(from_, std::move(routed)); }
  void operator()(wire::Relay& relay) { pastry_.on_relay(from_, relay); }

  // What is for the layer above may come from a leaf that this node lacks.
  template <typename Other>
  void operator()(Other&) {
    pastry_.welcome(from_);
  }

 private:
  Pastry& pastry_;
  PeerRef from_;
};

void Pastry::receive(PeerRef from, wire::Message message) {
  const Turn turn(*this);
  take(from, message);
}

void Pastry::take(PeerRef from, wire::Message& message) {
  if (!admit(from)) return;
  if (departed_ && !std::holds_alternative<wire::Routed>(message)) return;
  std::visit(Receiver(*this, from), message);
}

void Pastry::on_relay(PeerRef from, const wire::Relay& relay) {
  if (relay.to != state_.self) return send_on(from, relay);
  if (!relay.message || relay.from == from) {
    ++state_.counters.relay_drops;
    return;
  }
  state_.relays.handle(relay.from, from);
  wire::Message message = *relay.message;
  take(relay.from, message);
  if (!wire::for_pastry(message)) application_.receive(relay.from, std::move(message));
  state_.relays.handle({}, {});
}

// Only what a peer says itself, and only to leaves that this node reaches itself.
void Pastry::send_on(PeerRef from, const wire::Relay& relay) {
  const PeerRef to = relay.to;
  const bool reaches =
      state_.leaves.contains(to) && !prober_.suspected(to) && !state_.relays.contains(to);
  if (relay.from != from || !reaches) {
    ++state_.counters.relay_drops;
    return;
  }
  ++state_.counters.relayed;
  state_.env.send(to, relay);
}

// Notes a sign of life. False for peers that are not to be listened to: an
// older self of a peer that has restarted since, and whoever has this node's id.
bool Pastry::admit(PeerRef from) {
  if (state_.relays.came_by_relay(from)) state_.relays.refresh(from);
  prober_.heard(from);
  if (state_.proximity.heard(from, state_.now())) return true;
  const Id& id = state_.id(from);
  if (id == state_.self_id) {
    if (from != state_.self && newer(from, state_.self)) application_.superseded(from);
    return false;
  }
  const PeerRef known = state_.find(id);
  if (known && known != from) {
    if (newer(known, from)) {
      ++state_.counters.stale_senders;
      // It learns from its successor's handle that it has one.
      state_.send(from, wire::LeafProbe{0, true, state_.active, {known}, {}});
      return false;
    }
    ++state_.counters.replaced;
    drop(known, Loss::replaced);
  }
  if (state_.departed.fell_silent(from)) came_back(from);
  state_.departed.remove(from);
  return true;
}

void Pastry::on_routed(PeerRef from, wire::Routed message) {
  if (!message.body) {
    ++state_.counters.malformed;
    return;
  }
  if (message.hop_id != 0) {
    const bool room =
        !must_wait(message) || held_room_.has_room_for(wire::size_estimate(*message.body));
    if (!room) {
      ++state_.counters.held_drops;  // unacked: it looks for another way
      return;
    }
    state_.send(from, wire::HopAck{message.hop_id});
    if (!seen_hops_.first(from, message.hop_id)) {
      ++state_.counters.duplicate_hops;
      return;
    }
  }
  if (std::holds_alternative<wire::JoinRequest>(*message.body)) {
    on_join_request(from, std::move(message));
    return;
  }
  if (const auto* trace = std::get_if<wire::RouteTrace>(message.body.get())) {
    if (trace->hops.size() >= state_.config.hop_limit) {
      ++state_.counters.malformed;
      return;
    }
    wire::RouteTrace longer = *trace;
    longer.hops.push_back(state_.self);
    message.body = std::make_shared<const wire::RoutedBody>(std::move(longer));
  }
  if (!member() && !departed_) {
    hold(from, std::move(message));
  } else {
    pass_on(from, std::move(message));
  }
}

void Pastry::on_join_request(PeerRef from, wire::Routed message) {
  wire::JoinRequest request = std::get<wire::JoinRequest>(*message.body);
  const PeerRef joiner = request.joiner;
  if (!joiner || message.key != state_.id(joiner)) {
    ++state_.counters.malformed;
    return;
  }
  if (message.key == state_.self_id) {
    if (joiner != state_.self) state_.send(joiner, wire::JoinDeferred{request.nonce, 0});
    return;
  }
  const PeerRef known = state_.find(message.key);
  if (known && known != joiner) {
    if (newer(known, joiner)) {
      ++state_.counters.stale_senders;
      return;
    }
    ++state_.counters.replaced;
    drop(known, Loss::replaced);
  }
  if (!member()) {
    state_.send(joiner, wire::JoinDeferred{request.nonce, not_active_retry_ms});
    return;
  }
  add_rows(request);
  message.body = std::make_shared<const wire::RoutedBody>(std::move(request));
  pass_on(from, std::move(message));
}

void Pastry::on_leaf_probe(PeerRef from, const wire::LeafProbe& probe) {
  state_.tuning.told(from, probe.tuning_s);
  std::optional<Duration> round_trip;
  bool answer = false;
  if (probe.reply) {
    const Prober::Answer answered = prober_.answered(from, probe.nonce, true);
    round_trip = answered.round_trip;
    answer = answered.goals != 0;
  }
  if (!member()) {
    // Not in the ring: says so by an empty leaf set. Whoever asks is, and knows the way in.
    if (!probe.reply) {
      if (joiner_ && probe.active) joiner_->add_contact(from);
      state_.relays.answer(from, wire::LeafProbe{probe.nonce, true, false, {}, {}});
    }
    return;
  }
  if (round_trip) state_.measured(from, *round_trip);
  // Only members ask, and only who is none answers with an empty leaf set.
  if (!probe.reply || probe.active || !probe.leaves.empty()) {
    admit_leaf(from);
    if (round_trip) leases_.answered(from, state_.now() - *round_trip);
    if (probe.reply) leases_.told_leaves(from, probe.nonce);
    if (!probe.reply && !probe.active) leases_.met_newcomer(from);
    const std::uint32_t distance = state_.proximity.distance(from);
    if (distance != unknown_distance) {
      state_.offer_measured(from);
    } else if (state_.table.insert(from, state_.id(from), distance)) {
      state_.proximity.track(from, state_.now());
    }
  }
  if (probe.active && helper_.current() == from) finish_help(from);
  for (const PeerRef failed : probe.failed) {
    if (state_.holds(failed)) {
      if (planted_bug == PlantedBug::evicted_by_hearsay) {
        drop(failed, Loss::failed);
        continue;
      }
      prober_.confirm(failed);
    }
    // A newcomer may be active before it has found out by itself.
    if (!state_.active) await_lease(failed, Duration::zero());
  }
  note_vouched_for(from, probe.leaves);
  consider_leaves(probe.leaves);
  if (!probe.reply) {
    state_.relays.answer(from, state_.leaf_probe(probe.nonce, true));
  } else if (answer && state_.active && state_.config.maintenance) {
    compare_with(from, probe.leaves);
  }
}

// Distance is mutual: whom this node has a place for may have one for this node.
void Pastry::on_probe_reply(PeerRef from, const wire::ProbeReply& reply) {
  state_.tuning.told(from, reply.tuning_s);
  if (joiner_ && joiner_->on_probe_reply(from, reply)) return;
  if (state_.relays.answered(from, reply.nonce)) {
    rare<"relays: a neighbour can be reached again">();
  }
  const Prober::Answer answer = prober_.answered(from, reply.nonce, false);
  if (!answer.round_trip) return;
  on_measured(from, *answer.round_trip);
  if ((answer.goals & goal::distance) != 0 && state_.holds(from)) {
    state_.send(from, wire::DistanceReport{distance_of(*answer.round_trip)});
  }
}

void Pastry::on_distance_report(PeerRef from, const wire::DistanceReport& report) {
  if (report.round_trip_us == 0) {
    ++state_.counters.malformed;
    return;
  }
  if (member()) on_measured(from, Duration(report.round_trip_us));
}

void Pastry::on_state_request(PeerRef from, const wire::StateRequest& request) {
  if (!state_.active) {
    state_.send(from, wire::JoinDeferred{request.nonce, not_active_retry_ms});
    return;
  }
  wire::StateReply reply{request.nonce, request.part, request.row, request.column, {}};
  switch (request.part) {
    case wire::StatePart::leaf_set:
      for (const Leaf& leaf : state_.leaves.all()) reply.peers.push_back(leaf.peer);
      break;
    case wire::StatePart::neighborhood: reply.peers = state_.neighbors_for(from); break;
    case wire::StatePart::row: {
      const unsigned rows = std::max(state_.table.rows(), 1U);
      reply.row = static_cast<std::uint8_t>(std::min<unsigned>(request.row, rows - 1));
      for (const auto& entry : state_.table.row(reply.row)) reply.peers.push_back(entry.peer);
      break;
    }
    case wire::StatePart::entry:
      if (const PeerRef peer = state_.table.at(request.row, request.column)) {
        reply.peers.push_back(peer);
      }
      break;
  }
  state_.send(from, std::move(reply));
}

void Pastry::on_state_reply(PeerRef from, const wire::StateReply& reply) {
  if (joiner_ && joiner_->on_state_reply(from, reply)) return;
  if (newcomer_ && newcomer_->on_state_reply(reply)) return;
  if (table_repair_.on_state_reply(from, reply) || maintenance_.on_state_reply(reply)) return;
  if (meeting_.on_state_reply(from, reply)) return;
  for_each_walk([&](RingWalk& walk) { walk.on_state_reply(from, reply); });
}

// A row holds the peers that are closest to its owner. An owner closer than this
// node's own entry is likely to name a closer one (more than half of them take
// the entry, in rings grown by the simulator), any other is not (one in a hundred).
void Pastry::on_row_announce(PeerRef from, const wire::RowAnnounce& announce) {
  if (!state_.active) return;
  const std::uint32_t distance = state_.proximity.distance(from);
  for (const PeerRef peer : announce.row.peers) {
    if (state_.is_self(peer)) continue;
    const auto slot = state_.table.slot_of(state_.id(peer));
    if (distance <= state_.table.distance_at(slot) ||
        state_.table.prefers_zone_of(peer, state_.id(peer))) {
      measurer_.add(peer);
    }
  }
}

void Pastry::on_join_reply(PeerRef from, const wire::JoinReply& reply) {
  if (!joiner_ || !joiner_->on_join_reply(from, reply)) {
    // Helped twice, by the roots of two requests: one of them is enough.
    const bool helper = joiner_ && joiner_->helper() == from;
    if (!helper) state_.send(from, wire::JoinDone{reply.nonce});
    return;
  }
  wire::Peers leaves = reply.leaves;
  leaves.push_back(from);
  if (planted_bug == PlantedBug::activation_skipped) {
    for (const PeerRef leaf : leaves) admit_leaf(leaf);
    return;
  }
  consider_leaves(leaves);
}

void Pastry::on_join_deferred(PeerRef from, const wire::JoinDeferred& deferred) {
  if (joiner_ && joiner_->on_deferred(from, deferred)) return;
  for_each_walk([&](RingWalk& walk) { walk.refused(from, deferred.nonce); });
}

void Pastry::on_departure(PeerRef from, const wire::Departure& departure) {
  ++state_.counters.departures;
  drop(from, Loss::goodbye);
  if (member()) consider_leaves(departure.leaves);
}

void Pastry::on_hop_ack(PeerRef from, const wire::HopAck& ack) {
  if (joiner_ && joiner_->on_hop_ack(from, ack.hop_id)) return;
  if (const auto round_trip = acks_.acked(from, ack.hop_id)) {
    const bool direct = !state_.relays.came_by_relay(from);
    if (direct && state_.holds(from)) on_measured(from, *round_trip);
  }
}

}  // namespace canopy::pastry
