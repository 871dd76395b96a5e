// What the parts of one Pastry node share: its constants, its sets of peers,
// what it measured, and its way to the outside. Owned by Pastry; the parts hold
// it by reference and are called on the same thread.
#pragma once

#include <cstdint>
#include <utility>

#include "base/peer.hpp"
#include "pastry/config.hpp"
#include "pastry/counters.hpp"
#include "pastry/departed.hpp"
#include "pastry/leaf_set.hpp"
#include "pastry/neighborhood_set.hpp"
#include "pastry/proximity.hpp"
#include "pastry/relays.hpp"
#include "pastry/routing_table.hpp"
#include "pastry/self_tuning.hpp"
#include "wire/env.hpp"

namespace canopy::pastry {

struct NodeState {
  NodeState(const Config& config, PeerRef self, wire::Env& env);
  NodeState(const NodeState&) = delete;
  NodeState& operator=(const NodeState&) = delete;

  MonoTime now() const { return env.now(); }
  const Id& id(PeerRef peer) const { return env.peers().id(peer); }
  bool is_self(PeerRef peer) const { return id(peer) == self_id; }

  // Numbers requests, so that answers can be told apart. Never 0.
  std::uint32_t next_nonce() noexcept;

  void send(PeerRef to, wire::Message message) { relays.send(to, std::move(message)); }

  // Whether any of the three sets holds the peer.
  bool holds(PeerRef peer) const;
  // How many are in the leaf set or the table.
  std::size_t watched() const;
  // The peer with this id in any of the three sets, whatever its incarnation.
  PeerRef find(const Id& peer_id) const;
  // Whether somebody is known who is not a leaf. If not, the leaf set holds
  // everybody this node knows: it covers the whole ring.
  bool knows_beyond_leaves() const;

  // Of the part of the ring that both this node and its neighbour should have in
  // their leaf sets: the same at both if they agree on who is there. Never 0.
  std::uint32_t ring_mark(PeerRef neighbor) const;
  // What this node tells of its leaf set, and of peers that it found dead.
  wire::LeafProbe leaf_probe(std::uint32_t nonce, bool reply) const;
  // What this node tells a peer that looks for others near to itself: its
  // neighbourhood set and, if it knows how far that peer is, others about as far.
  wire::Peers neighbors_for(PeerRef asker) const;

  // Keeps a measured round trip, within the bound on records.
  void measured(PeerRef peer, Duration round_trip);
  // Keeps nothing but what is known of members of the three sets.
  void trim_proximity();
  // Offers a peer whose distance is known to table and neighbourhood.
  void offer_measured(PeerRef peer);

  const Config& config;
  const PeerRef self;
  const Id self_id;
  wire::Env& env;

  LeafSet leaves;
  RoutingTable table;
  NeighborhoodSet neighborhood;
  Proximity proximity;
  Departed departed;
  Relays relays;
  SelfTuning tuning;
  Counters counters;
  bool active = false;
  // A live peer was met that found no place in the leaf set, and nobody has
  // been lost since: the leaf set does not hold everybody.
  bool met_beyond_leaves = false;
  // The neighbour whose mark was the same as this node's at that time.
  PeerRef agreeing;
  MonoTime agreed_at = MonoTime::min();

 private:
  std::uint32_t last_nonce_;
};

}  // namespace canopy::pastry
