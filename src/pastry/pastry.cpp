// Life, routing and services of a node. What messages do is in receive.cpp,
// what becomes of other peers in membership.cpp.
#include "pastry/pastry.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

#include "base/rare.hpp"
#include "pastry/body_peers.hpp"
#include "pastry/planted_bug.hpp"
#include "pastry/turn.hpp"
#include "wire/codec.hpp"

namespace canopy::pastry {

namespace {

bool contains(const wire::Peers& peers, PeerRef peer) {
  return std::find(peers.begin(), peers.end(), peer) != peers.end();
}

constexpr std::int64_t waited_max_ms = 1'000'000'000;  // more than anybody waits

bool is_join(const wire::Routed& message) {
  return std::holds_alternative<wire::JoinRequest>(*message.body);
}

std::uint32_t waited_since(MonoTime since, MonoTime now) {
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - since).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(waited, 0, waited_max_ms));
}

constexpr std::size_t ring_walks_max = 16;  // at once

}  // namespace

Pastry::Pastry(const Config& config, PeerRef self, wire::Env& env, Application& application)
    : state_(config, self, env),
      application_(application),
      prober_(state_),
      router_(state_, prober_),
      acks_(state_),
      leases_(state_, prober_),
      measurer_(state_, prober_),
      table_repair_(state_, measurer_),
      maintenance_(state_, prober_, measurer_),
      meeting_(state_, prober_),
      helper_(state_),
      held_room_(config.held_messages_max, config.held_bytes_max) {}

Pastry::~Pastry() = default;

// --- Life ---

void Pastry::found() {
  const Turn turn(*this);
  if (state_.active || departed_) return;
  joiner_.reset();
  become_active();
}

void Pastry::join(wire::Peers contacts) {
  const Turn turn(*this);
  if (state_.active || departed_) return;
  joiner_ = std::make_unique<Joiner>(state_, std::move(contacts));
  joiner_->start();
}

void Pastry::add_contact(PeerRef peer) {
  const Turn turn(*this);
  if (joiner_) joiner_->add_contact(peer);
}

void Pastry::depart() {
  const Turn turn(*this);
  if (departed_) return;
  departed_ = true;
  if (inspection_) inspection_->traces.cancel_all();
  for_each_walk([](RingWalk& walk) { walk.cancel(); });
  joiner_.reset();
  newcomer_.reset();
  // Whom a joiner has probed counts it in before it hears of the answer.
  std::vector<PeerRef> everybody;
  prober_.collect_peers(everybody);
  prober_.cancel_all();
  measurer_.clear();
  table_repair_.clear();
  meeting_.clear();
  state_.active = false;

  wire::Departure goodbye;
  for (const Leaf& leaf : state_.leaves.all()) goodbye.leaves.push_back(leaf.peer);
  everybody.insert(everybody.end(), goodbye.leaves.begin(), goodbye.leaves.end());
  for (const auto& entry : state_.table.all()) everybody.push_back(entry.peer);
  for (const auto& entry : state_.neighborhood.all()) everybody.push_back(entry.peer);
  std::sort(everybody.begin(), everybody.end());
  everybody.erase(std::unique(everybody.begin(), everybody.end()), everybody.end());
  for (const PeerRef peer : everybody) state_.send(peer, goodbye);
  // Who waited for help has to ask another.
  for (const wire::Routed& waiting : helper_.take_waiting()) pass_on({}, waiting);
  release_held();
}

void Pastry::meet(PeerRef peer) {
  const Turn turn(*this);
  if (member() && !state_.leaves.contains(peer)) meeting_.start(peer);
}

bool Pastry::active() const noexcept { return state_.active; }

// --- Routing ---

void Pastry::route(const Id& key, wire::RoutedBody body) { start_route({}, key, std::move(body)); }

void Pastry::route_via(PeerRef first_hop, const Id& key, wire::RoutedBody body) {
  start_route(first_hop, key, std::move(body));
}

void Pastry::start_route(PeerRef first_hop, const Id& key, wire::RoutedBody body) {
  const Turn turn(*this);
  ++state_.counters.originated;
  wire::Routed message;
  message.key = key;
  message.body = std::make_shared<const wire::RoutedBody>(std::move(body));
  if (!member() && !departed_) {
    hold({}, std::move(message));
  } else {
    pass_on({}, std::move(message), first_hop);
  }
}

PeerRef Pastry::next_hop(const Id& key) const { return router_.next_hop(key, {}).peer; }

wire::Peers Pastry::closest(const Id& key, std::size_t k) const {
  std::vector<Leaf> all(state_.leaves.all().begin(), state_.leaves.all().end());
  all.push_back({state_.self_id, state_.self});
  const std::size_t count = std::min(k, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    [&key](const Leaf& a, const Leaf& b) { return closer_to(key, a.id, b.id); });
  wire::Peers peers;
  peers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) peers.push_back(all[i].peer);
  return peers;
}

Router::Hop Pastry::next_hop(const wire::Routed& message) const {
  return router_.next_hop(message.key, {is_join(message), message.leaving});
}

void Pastry::pass_on(PeerRef from, wire::Routed message, PeerRef first_hop) {
  Router::Hop hop{first_hop, Router::Rule::table};
  if (!first_hop || first_hop == state_.self) hop = next_hop(message);
  if (!hop.peer) {
    arrive(from, std::move(message));
    return;
  }
  if (hop.rule == Router::Rule::rare) {
    rare<"routing: neither leaf nor table entry fits the key">();
    ++state_.counters.rare_case;
  }
  if (!may_go_on(from, message, hop.peer)) return;
  if (!hop.peer || hop.peer == state_.self) {
    arrive(from, std::move(message));
    return;
  }
  if (from) ++state_.counters.forwarded;
  send_hop(hop.peer, from, std::move(message));
}

// Whether the application, too, lets it go on.
bool Pastry::may_go_on(PeerRef from, wire::Routed& message, PeerRef& next_hop) {
  const bool own = is_join(message) || std::holds_alternative<wire::RouteTrace>(*message.body);
  return own || application_.forward(from, message, next_hop) == ForwardAction::proceed;
}

void Pastry::arrive(PeerRef from, wire::Routed message) {
  if (departed_ || contains(message.leaving, state_.self)) {
    return hand_over(from, std::move(message));
  }
  if (!state_.active) {
    hold(from, std::move(message));
    return;
  }
  if (is_join(message)) {
    help_join(message);
    return;
  }
  if (!may_act(message.key)) {
    rare<"leases: a message waits at its root">();
    ++state_.counters.lease_waits;
    hold(from, std::move(message));
    return;
  }
  ++state_.counters.delivered;
  if (const auto* trace = std::get_if<wire::RouteTrace>(message.body.get())) {
    answer_trace(*trace);
  } else {
    application_.deliver(from, message);
  }
}

// The message says whom it has passed like this, so that it is not sent back:
// several neighbours that leave at once would toss it about among them.
void Pastry::hand_over(PeerRef from, wire::Routed message) {
  const Turn turn(*this);
  wire::Peers& leaving = message.leaving;
  if (!contains(leaving, state_.self)) leaving.push_back(state_.self);
  const wire::Peers nearest = closest(message.key, leaving.size() + 1);
  const auto next = std::find_if(nearest.begin(), nearest.end(),
                                 [&](PeerRef peer) { return !contains(leaving, peer); });
  if (next == nearest.end() || leaving.size() > wire::limit::leaving) {
    rare<"routing: all who are near a key leave at once">();
    ++state_.counters.undelivered_drops;
  } else if (PeerRef onward = *next; may_go_on(from, message, onward)) {
    send_hop(onward, from, std::move(message));
  }
}

void Pastry::answer_trace(const wire::RouteTrace& trace) {
  if (trace.origin == state_.self) {
    inspection().traces.ended_here(trace.nonce, trace.hops);
  } else {
    state_.send(trace.origin, wire::RouteTraceReply{trace.nonce, trace.hops});
  }
}

void Pastry::send_hop(PeerRef to, PeerRef from, wire::Routed message) {
  if (message.hops >= state_.config.hop_limit) {
    ++state_.counters.hop_limit_drops;
    return;
  }
  ++message.hops;
  message.hop_id = 0;
  if (state_.config.maintenance) acks_.add(to, from, message);
  state_.send(to, std::move(message));
}

void Pastry::send_again(HopAcks::Pending pending) {
  // As long as nobody knows better, the silent peer may answer yet: what becomes of
  // it is up to the probes, and that takes its time.
  if (state_.now() - pending.begun >= state_.config.hop_patience) {
    rare<"routing: a hop is given up">();
    ++state_.counters.undelivered_drops;
    return;
  }
  pending.message.waited_ms += waited_since(pending.sent, state_.now());
  const PeerRef next = next_hop(pending.message).peer;
  if (!next) {
    arrive(pending.from, std::move(pending.message));
  } else if (next == pending.to) {
    ++state_.counters.retransmissions;
    wire::Routed message = pending.message;
    acks_.add_again(std::move(pending));
    state_.send(next, std::move(message));
  } else {
    ++state_.counters.reroutes;
    acks_.add_elsewhere(next, pending);
    state_.send(next, std::move(pending.message));
  }
}

bool Pastry::may_act(const Id& key) {
  if (!state_.active) return false;
  if (planted_bug == PlantedBug::lease_not_waited_for) return true;
  return leases_.held() && (takeovers_.empty() || !must_wait_for_others(key));
}

bool Pastry::must_wait_for_others(const Id& key) const {
  Id next = state_.self_id;
  for (const Leaf& leaf : state_.leaves.all()) {
    if (next == state_.self_id || closer_to(key, leaf.id, next)) next = leaf.id;
  }
  return takeovers_.wait_for(key, state_.self_id, next, state_.now());
}

// Whether it would be held here.
bool Pastry::must_wait(const wire::Routed& message) {
  if (!state_.active) return true;
  if (is_join(message) || (takeovers_.empty() && leases_.held())) return false;
  return !next_hop(message).peer && !may_act(message.key);
}

void Pastry::hold(PeerRef from, wire::Routed message) {
  const std::size_t bytes = wire::size_estimate(*message.body);
  if (!held_room_.has_room_for(bytes)) {
    ++state_.counters.held_drops;
    return;
  }
  held_room_.take(bytes);
  ++state_.counters.held;
  held_.push_back({from, state_.now(), std::move(message)});
}

void Pastry::release_held() {
  if (held_.empty()) return;
  std::vector<Held> released = std::exchange(held_, {});
  // Who asks to be told of what comes is asked in before what has come is told on.
  std::ranges::stable_partition(released, [](const Held& held) {
    return std::holds_alternative<wire::GroupJoin>(*held.message.body);
  });
  for (Held& held : released) {
    held_room_.give_back(wire::size_estimate(*held.message.body));
    held.message.waited_ms += waited_since(held.since, state_.now());
    pass_on(held.from, std::move(held.message));
  }
}

// --- Services ---

void Pastry::heard_from(PeerRef peer) {
  const Turn turn(*this);
  admit(peer);
}

void Pastry::look_at_clock() { const Turn turn(*this); }

void Pastry::suspect(PeerRef peer) {
  const Turn turn(*this);
  if (!departed_ && !state_.is_self(peer)) prober_.probe(peer, goal::life);
}

void Pastry::measure(PeerRef peer) {
  const Turn turn(*this);
  if (!departed_ && state_.active) measurer_.add(peer);
}

void Pastry::unreachable(PeerRef peer) {
  const Turn turn(*this);
  if (departed_ || state_.is_self(peer) || relayed(peer)) return;
  if (joiner_) joiner_->unreachable(peer);
  if (state_.holds(peer)) prober_.probe(peer, goal::life);
}

void Pastry::met(PeerRef peer) {
  const Turn turn(*this);
  if (departed_ || state_.holds(peer)) return;
  if (state_.departed.renew(peer, state_.env.peers())) prober_.probe(peer, goal::leaves);
}

bool Pastry::suspected(PeerRef peer) const { return prober_.suspected(peer); }

std::optional<Duration> Pastry::round_trip(PeerRef peer) const {
  return state_.proximity.round_trip(peer);
}

void Pastry::send(PeerRef to, wire::Message message) { state_.send(to, std::move(message)); }

void Pastry::trace(const Id& key, Duration deadline, PeersHandler handler) {
  const Turn turn(*this);
  const std::uint32_t nonce = inspection().traces.begin(deadline, std::move(handler));
  if (nonce != 0) start_route({}, key, wire::RouteTrace{nonce, state_.self, {}});
}

void Pastry::walk_ring(Duration deadline, PeersHandler handler) {
  if (inspection().walks.size() >= ring_walks_max) return handler(make_error_code(errc::limit));
  const Turn turn(*this);
  inspection().walks.push_back(std::make_unique<RingWalk>(state_, deadline, std::move(handler)));
}

Pastry::Inspection& Pastry::inspection() {
  if (!inspection_) inspection_ = std::make_unique<Inspection>(Inspection{RouteTraces(state_), {}});
  return *inspection_;
}

void Pastry::learn(PeerRef peer, Duration round_trip) {
  const Turn turn(*this);
  if (state_.is_self(peer)) return;
  state_.departed.remove(peer);
  state_.measured(peer, round_trip);
  admit_leaf(peer);
  state_.offer_measured(peer);
}

void Pastry::learn_leaf(PeerRef peer) {
  const Turn turn(*this);
  if (!state_.is_self(peer)) admit_leaf(peer);
}

void Pastry::forget(PeerRef peer) {
  const Turn turn(*this);
  drop(peer, Loss::forgotten);
}

void Pastry::collect_peers(std::vector<PeerRef>& in_use) const {
  in_use.push_back(state_.self);
  for (const Leaf& leaf : state_.leaves.all()) in_use.push_back(leaf.peer);
  for (const auto& entry : state_.table.all()) in_use.push_back(entry.peer);
  for (const auto& entry : state_.neighborhood.all()) in_use.push_back(entry.peer);
  state_.proximity.collect_peers(in_use);
  state_.departed.collect_peers(in_use);
  state_.relays.collect_peers(in_use);
  prober_.collect_peers(in_use);
  acks_.collect_peers(in_use);
  seen_hops_.collect_peers(in_use);
  measurer_.collect_peers(in_use);
  meeting_.collect_peers(in_use);
  helper_.collect_peers(in_use);
  if (joiner_) joiner_->collect_peers(in_use);
  if (newcomer_) newcomer_->collect_peers(in_use);
  if (inspection_) {
    inspection_->traces.collect_peers(in_use);
    for (const auto& walk : inspection_->walks) walk->collect_peers(in_use);
  }
  for (const Held& held : held_) {
    if (held.from) in_use.push_back(held.from);
    collect_body_peers(held.message, in_use);
  }
}

// --- Time ---

void Pastry::tick() {
  const Turn turn(*this);
  wake_ = never;
  if (departed_) {
    // What was under way at the goodbye still looks for another way.
    for (HopAcks::Pending& overdue : acks_.take_overdue()) send_again(std::move(overdue));
    return;
  }
  for (const PeerRef peer : prober_.expire()) {
    ++state_.counters.evictions;
    drop(peer, Loss::failed);
  }
  for (HopAcks::Pending& overdue : acks_.take_overdue()) {
    prober_.probe(overdue.to, goal::life);
    send_again(std::move(overdue));
  }
  if (state_.relays.deadline() <= state_.now()) state_.relays.tick(state_.next_nonce());
  if (joiner_) joiner_->tick();
  if (helper_.overdue()) {
    rare<"joining: a joiner keeps its helper for too long">();
    ++state_.counters.join_help_timeouts;
    finish_help(helper_.current());
  }
  table_repair_.tick();
  meeting_.tick();
  if (state_.active && state_.config.maintenance) {
    waits_ended_ |= takeovers_.expire(state_.now());
    leases_.tick();
    maintenance_.tick();
  }
  if (inspection_) inspection_->traces.tick();
  for_each_walk([](RingWalk& walk) { walk.tick(); });
}

MonoTime Pastry::deadline() {
  if (departed_) return acks_.deadline();
  MonoTime earliest = std::min({prober_.deadline(), acks_.deadline(), table_repair_.deadline(),
                                meeting_.deadline(), helper_.deadline(), state_.relays.deadline()});
  if (joiner_) earliest = std::min(earliest, joiner_->deadline());
  if (newcomer_) earliest = std::min(earliest, newcomer_->deadline());
  if (state_.active && state_.config.maintenance) {
    earliest =
        std::min({earliest, leases_.deadline(), takeovers_.deadline(), maintenance_.deadline()});
  }
  if (inspection_) {
    earliest = std::min(earliest, inspection_->traces.deadline());
    for (const auto& walk : inspection_->walks) earliest = std::min(earliest, walk->deadline());
  }
  return earliest;
}

// A process that was stopped, or starved, finds its deadlines long past and the
// answers unread: it asks again before it blames anybody, and tells those who
// may have given it up that it is back.
void Pastry::notice_stall() {
  const Config& config = state_.config;
  const MonoTime now = state_.now();
  if (wake_ == never || now <= wake_ + config.probe_timeout) return;
  const Duration slept = now - wake_;
  wake_ = now;
  ++state_.counters.stalls;
  const bool acts = state_.active && config.maintenance;
  const bool lapsed = acts && leases_.start_over();  // before anything is sent again
  prober_.start_over();
  acks_.start_over();
  if (!acts) return;
  application_.stalled();
  if (lapsed || slept > config.heartbeat_interval + config.probe_timeout) probe_all_leaves();
}

void Pastry::settle() {
  if (inspection_) {
    std::erase_if(inspection_->walks, [](const auto& walk) { return walk->finished(); });
  }
  if (!departed_) {
    if (std::exchange(announce_failure_, false)) probe_all_leaves();
    check_join();
    measurer_.advance();
    if (newcomer_ && newcomer_->advance()) {
      newcomer_.reset();
      state_.trim_proximity();
      announce_rows();
    }
    if (joiner_) {
      if (const auto reason = joiner_->take_stall()) application_.join_stalled(*reason);
    }
  }
  waits_ended_ |= leases_.take_renewed();
  while (leaf_set_changed_ || waits_ended_) {
    leaf_set_changed_ = waits_ended_ = false;
    if (!state_.active) continue;
    application_.leaf_set_changed();
    release_held();
  }
  arm();
}

// What is long overdue is due now: it does not make this process look late.
void Pastry::arm() {
  const MonoTime next = std::max(deadline(), state_.now());
  if (next >= wake_) return;
  wake_ = next;
  state_.env.wake_at(next);
}

}  // namespace canopy::pastry
