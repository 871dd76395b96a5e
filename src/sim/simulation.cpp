#include "sim/simulation.hpp"

#include <utility>

#include "base/assert.hpp"
#include "sim/codec_pass.hpp"

namespace canopy::sim {

namespace {

constexpr EventType crash_event("crash");
constexpr EventType depart_event("depart");
constexpr EventType restart_event("restart");
constexpr EventType hang_event("hang");
constexpr EventType resume_event("resume");

}  // namespace

Simulation::Simulation(const SimulationConfig& config, const Topology& topology)
    : config_(config),
      topology_(topology),
      seeds_(config.seed),
      network_(topology, seeds_.fork()),
      trace_(config.overlay.pastry.id_bits) {
  config_.overlay.scribe.keeps_states = config.disks;
}

Simulation::~Simulation() = default;

// --- Nodes ---

NodeIndex Simulation::add_node(std::string name, const Id& id, std::string zone) {
  const auto index = static_cast<NodeIndex>(nodes_.size());
  CANOPY_ASSERT(index < topology_.hosts());
  PeerDescriptor descriptor;
  descriptor.id = id;
  descriptor.incarnation = 1;
  descriptor.name = std::move(name);
  descriptor.zone = std::move(zone);
  const PeerRef self = peers_.intern(std::move(descriptor));
  CANOPY_ASSERT(self.index() == node_of_peer_.size());  // ids differ, so this one is new
  node_of_peer_.push_back(index);
  ids_.push_back(id);
  VirtualNode& node = nodes_.emplace_back(*this, index, self, seeds_.fork());
  start_process(node);
  return index;
}

void Simulation::start_process(VirtualNode& node) {
  node.state_ = NodeState::running;
  node.peer_ = std::make_unique<scribe::OverlayPeer>(config_.overlay, node.self_, node, node);
  for (const auto& [group, state] : node.disk_) node.peer_->scribe().restore(state);
}

void Simulation::found(NodeIndex node) {
  nodes_[node].entering_ = true;
  peer(node).pastry().found();
  after(nodes_[node]);
}

void Simulation::join(NodeIndex node, const std::vector<NodeIndex>& contacts) {
  wire::Peers refs;
  for (const NodeIndex contact : contacts) refs.push_back(ref(contact));
  nodes_[node].entering_ = true;
  peer(node).pastry().join(std::move(refs));
}

void Simulation::add_contact(NodeIndex joiner, NodeIndex contact) {
  peer(joiner).pastry().add_contact(ref(contact));
  after(nodes_[joiner]);
}

void Simulation::depart(NodeIndex node) {
  trace_node(node, depart_event);
  nodes_[node].departing_ = true;
  peer(node).depart();
  after(nodes_[node]);
}

void Simulation::crash(NodeIndex node) {
  CANOPY_ASSERT(!stopped(node));
  trace_node(node, crash_event);
  stop_process(nodes_[node]);
}

void Simulation::stop_process(VirtualNode& node) {
  node.state_ = NodeState::stopped;
  node.peer_.reset();
  if (node.inbox_) {
    for (const std::uint32_t slot : *node.inbox_) flights_.take(slot);
    node.inbox_.reset();
  }
  node.entering_ = false;
  node.departing_ = false;
  node.woken_while_hung_ = false;
  ++node.wake_generation_;
  node.wake_requested_ = node.wake_scheduled_ = never;
}

void Simulation::restart(NodeIndex index) {
  CANOPY_ASSERT(stopped(index));
  VirtualNode& node = nodes_[index];
  PeerDescriptor descriptor = peers_[node.self_];
  ++descriptor.incarnation;
  node.self_ = peers_.intern(std::move(descriptor));
  CANOPY_ASSERT(node.self_.index() == node_of_peer_.size());
  node_of_peer_.push_back(index);
  node.random_ = seeds_.fork();
  trace_node(index, restart_event);
  start_process(node);
  if (config_.disks) node.peer_->scribe().returned();
}

void Simulation::hang(NodeIndex index) {
  VirtualNode& node = nodes_[index];
  CANOPY_ASSERT(node.state_ == NodeState::running);
  node.state_ = NodeState::hung;
  node.inbox_ = std::make_unique<std::deque<std::uint32_t>>();
  trace_node(index, hang_event);
}

// What came meanwhile and what is overdue are both ready at once: which comes
// first is up to the event loop, here to the seed.
void Simulation::resume(NodeIndex index) {
  VirtualNode& node = nodes_[index];
  CANOPY_ASSERT(node.state_ == NodeState::hung);
  node.state_ = NodeState::running;
  trace_node(index, resume_event);
  const bool timers_first = network_.random().chance(0.5);
  const auto inbox = std::exchange(node.inbox_, nullptr);
  if (node.woken_while_hung_ && timers_first) tick(node);  // may end a departure
  for (const std::uint32_t slot : *inbox) receive(node, flights_.take(slot));
  if (node.woken_while_hung_ && !timers_first) tick(node);
  node.woken_while_hung_ = false;
}

void Simulation::set_clock_drift(NodeIndex index, std::int32_t ppm) {
  nodes_[index].clock_.set_drift(now_, ppm);
}

void Simulation::jump_clock_ahead(NodeIndex index, Duration by) {
  nodes_[index].clock_.jump_ahead(now_, by);
}

bool Simulation::active(NodeIndex node) const {
  return !stopped(node) && peer(node).pastry().active();
}

scribe::OverlayPeer& Simulation::peer(NodeIndex node) {
  CANOPY_ASSERT(nodes_[node].peer_ != nullptr);
  return *nodes_[node].peer_;
}

const scribe::OverlayPeer& Simulation::peer(NodeIndex node) const {
  CANOPY_ASSERT(nodes_[node].peer_ != nullptr);
  return *nodes_[node].peer_;
}

// What its process has come to by an event.
void Simulation::after(VirtualNode& node) {
  if (node.entering_ && node.peer_->pastry().active()) {
    node.entering_ = false;
    for (Observer* observer : observers_) observer->activated(node.index_);
  }
  if (node.departing_ && node.peer_->departed()) stop_process(node);
}

// --- Messages ---

void Simulation::send(VirtualNode& from, PeerRef to, wire::Message message) {
  const NodeIndex target = node_of(to);
  const std::size_t kind = kind_of(message);
  const EventType& type = type_of(kind, message);
  const std::size_t bytes = wire::size_estimate(message);
  ++sent_[kind].messages;
  sent_[kind].bytes += bytes;
  trace_.add(now_, ids_[from.index_], ids_[target], type, bytes);
  for (Observer* observer : observers_) observer->sent(from.index_, target, message);
  tell_said(from, target, message);

  if (config_.encode) {
    auto decoded = through_codec(message, peers_);
    if (!decoded) {
      ++unencodable_;
      return trace_lost(type, from.index_, target, bytes);
    }
    message = std::move(*decoded);
  }
  const Network::Fate fate = network_.fate(from.index_, target, now_, bytes);
  if (fate.copies == 0) return lose(type, from.index_, target, bytes);
  if (fate.copies == 2) launch({message, from.self_, to}, fate.delay[1]);
  launch({std::move(message), from.self_, to}, fate.delay[0]);
}

// What is relayed is said once, by the first to send it.
void Simulation::tell_said(const VirtualNode& from, NodeIndex to, const wire::Message& message) {
  const auto* relay = std::get_if<wire::Relay>(&message);
  if (relay != nullptr && relay->from != from.self_) return;
  const wire::Message& said = relay == nullptr ? message : *relay->message;
  if (relay != nullptr) to = node_of(relay->to);
  for (Observer* observer : observers_) observer->said(from.index_, to, said);
}

void Simulation::lose(const EventType& type, NodeIndex from, NodeIndex to, std::size_t bytes) {
  ++lost_;
  trace_lost(type, from, to, bytes);
}

void Simulation::trace_lost(const EventType& type, NodeIndex from, NodeIndex to,
                            std::size_t bytes) {
  const std::string lost = "lost:" + std::string(type.text());
  trace_.add(now_, ids_[from], ids_[to], EventType(lost), bytes);
}

void Simulation::launch(Flight flight, Duration delay) {
  const NodeIndex target = node_of(flight.to);
  ++in_flight_;
  wheel_.schedule({now_ + delay, target, flights_.put(std::move(flight)), message_arrives});
}

const EventType& Simulation::type_of(std::size_t kind, const wire::Message& message) {
  if (types_[kind].text().empty()) types_[kind] = EventType(wire::type_name(message));
  return types_[kind];
}

void Simulation::arrive(std::uint32_t slot) {
  --in_flight_;
  Flight flight = flights_.take(slot);
  VirtualNode& node = nodes_[node_of(flight.to)];
  if (node.state_ == NodeState::stopped || node.self_ != flight.to) return refuse(flight);
  if (node.state_ == NodeState::hung) {
    if (node.inbox_->size() >= config_.inbox_max) {
      const wire::Message& message = flight.message;
      return lose(type_of(kind_of(message), message), node_of(flight.from), node.index_,
                  wire::size_estimate(message));
    }
    node.inbox_->push_back(flights_.put(std::move(flight)));
    return;
  }
  receive(node, std::move(flight));
}

void Simulation::receive(VirtualNode& node, Flight flight) {
  if (node.state_ != NodeState::running) return;  // departed meanwhile
  node.peer_->receive(flight.from, std::move(flight.message));
  after(node);
}

void Simulation::refuse(const Flight& flight) {
  const VirtualNode& target = nodes_[node_of(flight.to)];
  if (target.state_ != NodeState::running && !config_.refusals) return;
  const NodeIndex sender = node_of(flight.from);
  const Duration back = network_.delay(node_of(flight.to), sender);
  const std::uint32_t slot = flights_.put({wire::Heartbeat{}, flight.from, flight.to});
  wheel_.schedule({now_ + back, sender, slot, refusal_arrives});
}

void Simulation::trace_node(NodeIndex node, const EventType& type) {
  trace_.add(now_, ids_[node], ids_[node], type, 0);
}

// --- Time ---

void Simulation::request_wake(VirtualNode& node, MonoTime deadline) {
  if (deadline == never) return;
  const MonoTime at = std::max(now_, node.clock_.global(deadline));
  if (at >= node.wake_requested_) return;
  node.wake_requested_ = at;
  if (at < node.wake_scheduled_) schedule_wake(node);
}

// Whatever is scheduled already is later: it finds its generation outdated.
void Simulation::schedule_wake(VirtualNode& node) {
  node.wake_scheduled_ = node.wake_requested_;
  wheel_.schedule({node.wake_scheduled_, node.index_, ++node.wake_generation_, node_wakes});
}

void Simulation::wake(VirtualNode& node, std::uint32_t generation) {
  if (generation != node.wake_generation_) return;
  node.wake_scheduled_ = never;
  if (node.state_ == NodeState::hung) {
    node.woken_while_hung_ = true;
    return;
  }
  tick(node);
}

void Simulation::tick(VirtualNode& node) {
  if (node.state_ != NodeState::running) return;
  node.wake_requested_ = never;
  node.peer_->tick();
  after(node);
}

bool Simulation::step(MonoTime limit) {
  const auto event = wheel_.pop(limit);
  if (!event) return false;
  now_ = event->at;
  ++events_;
  handle(*event);
  return true;
}

void Simulation::handle(const Event& event) {
  VirtualNode& node = nodes_[event.subject];
  switch (event.kind) {
    case message_arrives: return arrive(event.detail);
    case node_wakes: return wake(node, event.detail);
    case refusal_arrives: {
      const Flight flight = flights_.take(event.detail);
      if (node.state_ != NodeState::running || node.self_ != flight.from) return;
      node.peer_->unreachable(flight.to);
      const VirtualNode& target = nodes_[node_of(flight.to)];
      if (target.state_ == NodeState::running && target.self_ != flight.to) {
        node.peer_->pastry().met(target.self_);
      }
      return after(node);
    }
    default: CANOPY_ASSERT(false);
  }
}

void Simulation::run_until(MonoTime at) {
  CANOPY_ASSERT(at >= now_);
  while (step(at)) {
  }
  now_ = at;
}

bool Simulation::run_until_quiet(MonoTime limit) {
  for (;;) {
    while (step(now_)) {
    }
    if (in_flight_ == 0) return true;
    if (!step(limit)) return false;
  }
}

std::uint64_t Simulation::messages_sent() const {
  std::uint64_t sum = 0;
  for (const TrafficCounter& counter : sent_) sum += counter.messages;
  return sum;
}

std::vector<TrafficByType> Simulation::traffic() const {
  std::vector<TrafficByType> traffic;
  for (std::size_t kind = 0; kind < message_kinds; ++kind) {
    if (sent_[kind].messages > 0) traffic.push_back({types_[kind].text(), sent_[kind]});
  }
  return traffic;
}

}  // namespace canopy::sim
