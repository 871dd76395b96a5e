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

#include <optional>
#include <string_view>
#include <vector>

#include "base/peer.hpp"
#include "pastry/application.hpp"
#include "pastry/config.hpp"
#include "pastry/leaf_set.hpp"
#include "pastry/neighborhood_set.hpp"
#include "pastry/routing_table.hpp"
#include "wire/env.hpp"

namespace canopy::pastry {

class Pastry {
 public:
  Pastry(const Config& config, PeerRef self, wire::Env& env, Application& application);

  // --- Life ---
  void found();                     // the first node: active at once
  void join(wire::Peers contacts);  // any of them will do; retried until active
  void add_contact(PeerRef peer);   // a further contact for a join under way
  void depart();                    // says goodbye to everybody who knows this node
  bool active() const noexcept;

  // --- Routing ---
  void route(const Id& key, wire::RoutedBody body);
  // As route, but the first hop is this peer (a randomised or cached first hop).
  void route_via(PeerRef first_hop, const Id& key, wire::RoutedBody body);
  // The next hop from here for a key; empty if this node is the root.
  PeerRef next_hop(const Id& key) const;
  bool is_root(const Id& key) const { return !next_hop(key); }
  // The k nodes of leaf set and self that are closest to the key, closest first.
  wire::Peers closest(const Id& key, std::size_t k) const;

  // --- Input from the host ---
  void receive(PeerRef from, wire::Message message);
  void tick();
  // The transport cannot reach the peer: probed at once, not evicted for it.
  void unreachable(PeerRef peer);

  // --- Services for the layer above ---
  // Any sign of life counts for failure detection.
  void heard_from(PeerRef peer);
  // Starts a probe of a peer that owes an answer; ends in peer_failed or not.
  void suspect(PeerRef peer);
  bool suspected(PeerRef peer) const;
  // Round trip measured or learned; nothing if not known.
  std::optional<Duration> round_trip(PeerRef peer) const;
  // Sends and remembers that it did, so that heartbeats can be suppressed.
  void send(PeerRef to, wire::Message message);

  // --- State, for inspection, ideal filling and checkers ---
  PeerRef self() const noexcept;
  const Config& config() const noexcept;
  const LeafSet& leaf_set() const noexcept;
  const RoutingTable& routing_table() const noexcept;
  const NeighborhoodSet& neighborhood_set() const noexcept;
  // Offers a live peer, with its distance, to all three sets.
  void learn(PeerRef peer, Duration round_trip);
  // Forgets a dead peer everywhere and tells the application.
  void forget(PeerRef peer);
  // Every handle this layer still holds, for PeerTable::sweep.
  void collect_peers(std::vector<PeerRef>& in_use) const;
};

}  // namespace canopy::pastry
