// A deterministic world of overlay peers: virtual time, a virtual network, and
// nodes that run the production protocol code.
//
// Everything follows from the seed: each node draws from a Random of its own,
// forked from it, and so does the network. Events happen in the order (time,
// sequence of scheduling). One PeerTable serves all nodes. Sends, losses and
// faults go into the trace. Single-threaded; observers must outlive it
// or stop observing.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/peer.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "scribe/overlay_peer.hpp"
#include "sim/flight.hpp"
#include "sim/message_kind.hpp"
#include "sim/network.hpp"
#include "sim/observer.hpp"
#include "sim/timing_wheel.hpp"
#include "sim/topology.hpp"
#include "sim/trace.hpp"
#include "sim/virtual_node.hpp"

namespace canopy::sim {

struct SimulationConfig {
  std::uint64_t seed = 1;
  scribe::OverlayConfig overlay;
  bool encode = false;              // pass every message through the wire codec
  std::uint32_t inbox_max = 4'096;  // messages kept for a hung node; more are lost
  // Nodes have disks for what groups are, which outlive their processes.
  bool disks = false;
  // A message to a stopped process comes back as a hint to its sender, as a
  // refused connection does; otherwise it vanishes, as if the machine were off. One that
  // has started anew says so in any case.
  bool refusals = true;
};

struct TrafficCounter {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

struct TrafficByType {
  std::string_view type;
  TrafficCounter sent;
};

class Simulation {
 public:
  // Node i lives on host i of the topology, which must outlive this.
  Simulation(const SimulationConfig& config, const Topology& topology);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  void observe(Observer& observer) { observers_.push_back(&observer); }
  void stop_observing(Observer& observer) { std::erase(observers_, &observer); }

  // --- Nodes ---
  // Running, in no ring yet.
  NodeIndex add_node(std::string name, const Id& id, std::string zone = {});
  void found(NodeIndex node);
  void join(NodeIndex node, const std::vector<NodeIndex>& contacts);
  void add_contact(NodeIndex joiner, NodeIndex contact);
  void depart(NodeIndex node);  // leaves on purpose, then stops
  void crash(NodeIndex node);
  // A stopped one: new incarnation, nothing remembered but what its disk has.
  void restart(NodeIndex node);
  void hang(NodeIndex node);
  void resume(NodeIndex node);
  void set_clock_drift(NodeIndex node, std::int32_t ppm);
  void jump_clock_ahead(NodeIndex node, Duration by);

  std::size_t size() const { return nodes_.size(); }
  NodeState state(NodeIndex node) const { return nodes_[node].state_; }
  bool stopped(NodeIndex node) const { return state(node) == NodeState::stopped; }
  bool active(NodeIndex node) const;
  // The protocol stack of a node that is not stopped.
  scribe::OverlayPeer& peer(NodeIndex node);
  const scribe::OverlayPeer& peer(NodeIndex node) const;
  PeerRef ref(NodeIndex node) const { return nodes_[node].self_; }
  const Id& id(NodeIndex node) const { return ids_[node]; }
  // Of any incarnation.
  NodeIndex node_of(PeerRef peer) const { return node_of_peer_[peer.index()]; }

  // --- The world ---
  MonoTime now() const { return now_; }
  PeerTable& peers() { return peers_; }
  Network& network() { return network_; }
  const Topology& topology() const { return topology_; }
  const scribe::OverlayConfig& overlay_config() const { return config_.overlay; }

  // --- Time ---
  // Handles the next event, unless it is later than `limit`; whether it did.
  bool step(MonoTime limit = never);
  void run_until(MonoTime at);
  void run_for(Duration span) { run_until(now_ + span); }
  // Until no message is in flight and nothing is due now; whether that came
  // about by `limit`. Timers that lie ahead do not count.
  bool run_until_quiet(MonoTime limit);

  // --- What happened ---
  Trace& trace() { return trace_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t messages_sent() const;
  std::vector<TrafficByType> traffic() const;                 // types that occurred, in their order
  std::uint64_t lost() const { return lost_; }                // by faults, and at hung processes
  std::uint64_t unencodable() const { return unencodable_; }  // by the wire codec

 private:
  friend class VirtualNode;

  enum Kind : std::uint32_t { message_arrives, node_wakes, refusal_arrives };

  void start_process(VirtualNode& node);
  void stop_process(VirtualNode& node);
  void send(VirtualNode& from, PeerRef to, wire::Message message);
  void launch(Flight flight, Duration delay);
  void request_wake(VirtualNode& node, MonoTime deadline);
  void schedule_wake(VirtualNode& node);
  void handle(const Event& event);
  void arrive(std::uint32_t slot);
  void refuse(const Flight& flight);
  void wake(VirtualNode& node, std::uint32_t generation);
  void tick(VirtualNode& node);
  void after(VirtualNode& node);
  void receive(VirtualNode& node, Flight flight);
  void tell_said(const VirtualNode& from, NodeIndex to, const wire::Message& message);
  void lose(const EventType& type, NodeIndex from, NodeIndex to, std::size_t bytes);
  void trace_lost(const EventType& type, NodeIndex from, NodeIndex to, std::size_t bytes);
  void trace_node(NodeIndex node, const EventType& type);
  const EventType& type_of(std::size_t kind, const wire::Message& message);

  SimulationConfig config_;
  const Topology& topology_;
  Random seeds_;
  Network network_;
  PeerTable peers_;
  TimingWheel wheel_;
  FlightPool flights_;
  MonoTime now_{};
  std::deque<VirtualNode> nodes_;
  std::vector<Id> ids_;                  // by node
  std::vector<NodeIndex> node_of_peer_;  // by PeerRef
  std::vector<Observer*> observers_;
  Trace trace_;
  std::array<EventType, message_kinds> types_;  // by kind, filled on first use
  std::array<TrafficCounter, message_kinds> sent_;
  std::uint64_t events_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t unencodable_ = 0;
};

}  // namespace canopy::sim
