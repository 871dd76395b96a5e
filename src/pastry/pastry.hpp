// One Pastry node: routes messages to the live node whose id is numerically
// closest to a key.
//
// Rowstron and Druschel (Middleware 2001) for state and routing; MSPastry
// (Castro, Costa, Rowstron, DSN 2004) for activation, failure detection and
// per-hop acks; one joiner at a time after Lu, Merz and Weidenbach.
// Sans-I/O: the host feeds received messages and ticks, and is asked through
// Env to send and to wake. Not thread-safe. The config, Env and Application
// must outlive it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/peer.hpp"
#include "pastry/application.hpp"
#include "pastry/config.hpp"
#include "pastry/hop_acks.hpp"
#include "pastry/inspection.hpp"
#include "pastry/join_helper.hpp"
#include "pastry/joiner.hpp"
#include "pastry/leaf_set.hpp"
#include "pastry/leases.hpp"
#include "pastry/maintenance.hpp"
#include "pastry/measurer.hpp"
#include "pastry/meeting.hpp"
#include "pastry/neighborhood_set.hpp"
#include "pastry/newcomer.hpp"
#include "pastry/node_state.hpp"
#include "pastry/prober.hpp"
#include "pastry/router.hpp"
#include "pastry/routing_table.hpp"
#include "pastry/table_repair.hpp"
#include "pastry/takeovers.hpp"
#include "wire/env.hpp"

namespace canopy::pastry {

class Pastry {
 public:
  Pastry(const Config& config, PeerRef self, wire::Env& env, Application& application);
  ~Pastry();
  Pastry(const Pastry&) = delete;
  Pastry& operator=(const Pastry&) = delete;

  // --- Life ---
  void found();                     // the first node: active at once
  void join(wire::Peers contacts);  // any of them will do; retried until active
  void add_contact(PeerRef peer);   // a further contact for a join under way
  void depart();                    // says goodbye to everybody who knows this node
  // Of a peer that may be in another ring of the cluster: if it is, the two become
  // one, beginning where this node's place is in the other.
  void meet(PeerRef peer);
  bool active() const noexcept;

  // --- Routing ---
  void route(const Id& key, wire::RoutedBody body);
  // As route, but the first hop is this peer (a randomised or cached first hop).
  void route_via(PeerRef first_hop, const Id& key, wire::RoutedBody body);
  // The next hop from here for a key; empty if this node is the root.
  PeerRef next_hop(const Id& key) const;
  bool is_root(const Id& key) const { return !next_hop(key); }
  // Whether this node, if it is the root, may act as such now: it holds its
  // neighbours' leases, and nobody closer that it gave up may still act.
  // Application::leaf_set_changed tells when that may have become so.
  bool may_act(const Id& key);
  // The k nodes of leaf set and self that are closest to the key, closest first.
  wire::Peers closest(const Id& key, std::size_t k) const;

  // For a root that is about to leave: on to the next closest peer that does
  // not leave as well.
  void hand_over(PeerRef from, wire::Routed message);

  // --- Input from the host ---
  void receive(PeerRef from, wire::Message message);
  void tick();
  // The transport cannot reach the peer: probed at once, not evicted for it.
  void unreachable(PeerRef peer);
  // The transport has a link with this process of the peer. If an earlier one is missed, it is
  // asked which ring it is in.
  void met(PeerRef peer);

  // --- Services for the layer above ---
  // Any sign of life counts for failure detection.
  void heard_from(PeerRef peer);
  // Notices if this process was stopped, as receive and tick do: for what the
  // layer above is asked to do by its host.
  void look_at_clock();
  // Starts a probe of a peer that owes an answer; ends in peer_failed or not.
  void suspect(PeerRef peer);
  bool suspected(PeerRef peer) const;
  // Whether what is for the peer goes by way of another, as this node does not reach it.
  bool relayed(PeerRef peer) const { return state_.relays.contains(peer); }
  // Round trip measured or learned; nothing if not known.
  std::optional<Duration> round_trip(PeerRef peer) const;
  // Has it measured, in a while: a few are at a time, and what finds no room is
  // forgotten. Application::measured tells when it is known.
  void measure(PeerRef peer);
  void send(PeerRef to, wire::Message message);
  // Bytes that wait to leave for the peer, or for the one that they go by way of.
  std::size_t backlog(PeerRef to) { return state_.env.backlog(state_.relays.first_hop(to)); }

  // --- Services for people who look. The handler is called exactly once, from
  // receive, tick or depart; at once, with errc::limit, if too many are under
  // way. ---
  // The hops from here to the root of the key, this node not included.
  void trace(const Id& key, Duration deadline, PeersHandler handler);
  // Every peer of the ring in id order, this one first.
  void walk_ring(Duration deadline, PeersHandler handler);

  // --- State, for inspection, ideal filling and checkers ---
  PeerRef self() const noexcept { return state_.self; }
  const Config& config() const noexcept { return state_.config; }
  const LeafSet& leaf_set() const noexcept { return state_.leaves; }
  const RoutingTable& routing_table() const noexcept { return state_.table; }
  const NeighborhoodSet& neighborhood_set() const noexcept { return state_.neighborhood; }
  const Counters& counters() const noexcept { return state_.counters; }
  // Offers a live peer, with its distance, to all three sets.
  void learn(PeerRef peer, Duration round_trip);
  // Offers a live peer to the leaf set alone (worked examples, in which a
  // failure leaves holes in the tables).
  void learn_leaf(PeerRef peer);
  // Forgets a dead peer everywhere and tells the application.
  void forget(PeerRef peer);
  // Every handle this layer still holds, for PeerTable::sweep.
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Held {
    PeerRef from;
    MonoTime since;
    wire::Routed message;
  };
  struct Inspection {
    RouteTraces traces;
    std::vector<std::unique_ptr<RingWalk>> walks;
  };
  class Receiver;  // dispatches a message by its type
  class Turn;      // one call from outside; what it left open is settled at its end
  enum class Loss : std::uint8_t { failed, goodbye, replaced, forgotten };

  // Input and time
  bool admit(PeerRef from);
  void take(PeerRef from, wire::Message& message);
  void on_relay(PeerRef from, const wire::Relay& relay);
  void send_on(PeerRef from, const wire::Relay& relay);
  void notice_stall();
  void settle();
  void arm();
  MonoTime deadline();

  // Routing
  void start_route(PeerRef first_hop, const Id& key, wire::RoutedBody body);
  Router::Hop next_hop(const wire::Routed& message) const;
  void pass_on(PeerRef from, wire::Routed message, PeerRef first_hop = {});
  bool may_go_on(PeerRef from, wire::Routed& message, PeerRef& next_hop);
  void arrive(PeerRef from, wire::Routed message);
  void answer_trace(const wire::RouteTrace& trace);
  void send_hop(PeerRef to, PeerRef from, wire::Routed message);
  void send_again(HopAcks::Pending pending);
  void hold(PeerRef from, wire::Routed message);
  void release_held();
  bool must_wait_for_others(const Id& key) const;
  bool must_wait(const wire::Routed& message);

  // Membership
  bool member() const noexcept;
  void become_active();
  void check_join();
  void finish_help(PeerRef joiner);
  void help_join(const wire::Routed& message);
  void add_rows(wire::JoinRequest& request) const;
  void announce();
  void announce_rows();
  void probe_all_leaves();

  // Other peers
  bool newer(PeerRef peer, PeerRef than) const;  // by incarnation
  void admit_leaf(PeerRef peer);
  void consider_leaves(const wire::Peers& candidates);
  void welcome(PeerRef from);
  void came_back(PeerRef from);
  void on_measured(PeerRef peer, Duration round_trip);
  void drop(PeerRef peer, Loss loss);
  void await_lease(PeerRef lost, Duration silence);
  void note_vouched_for(PeerRef neighbor, const wire::Peers& its_leaves);
  void ask_vouched_for(PeerRef lost_neighbor);
  void repair_leaf_set(const Id& lost, bool was_full, bool was_watched);
  void consider_known();
  void compare_with(PeerRef peer, const wire::Peers& its_leaves);
  Inspection& inspection();
  template <typename Call>
  void for_each_walk(Call call);

  // What each message does
  void on_routed(PeerRef from, wire::Routed message);
  void on_join_request(PeerRef from, wire::Routed message);
  void on_leaf_probe(PeerRef from, const wire::LeafProbe& probe);
  void on_probe_reply(PeerRef from, const wire::ProbeReply& reply);
  void on_distance_report(PeerRef from, const wire::DistanceReport& report);
  void on_state_request(PeerRef from, const wire::StateRequest& request);
  void on_state_reply(PeerRef from, const wire::StateReply& reply);
  void on_row_announce(PeerRef from, const wire::RowAnnounce& announce);
  void on_join_reply(PeerRef from, const wire::JoinReply& reply);
  void on_join_deferred(PeerRef from, const wire::JoinDeferred& deferred);
  void on_departure(PeerRef from, const wire::Departure& departure);
  void on_hop_ack(PeerRef from, const wire::HopAck& ack);

  NodeState state_;
  Application& application_;
  Prober prober_;
  Router router_;
  HopAcks acks_;
  SeenHops seen_hops_;
  Leases leases_;
  Takeovers takeovers_;
  Measurer measurer_;
  TableRepair table_repair_;
  Maintenance maintenance_;
  Meeting meeting_;
  JoinHelper helper_;
  std::unique_ptr<Joiner> joiner_;
  std::unique_ptr<Newcomer> newcomer_;
  std::unique_ptr<Inspection> inspection_;
  std::vector<Held> held_;
  Quota held_room_;

  unsigned depth_ = 0;  // of calls within calls
  bool departed_ = false;
  bool leaf_set_changed_ = false;  // and the application does not know yet
  bool waits_ended_ = false;       // held messages may be delivered now
  bool announce_failure_ = false;  // of a watched peer, to all leaves
  MonoTime wake_ = never;          // what Env was asked for last
};

}  // namespace canopy::pastry
