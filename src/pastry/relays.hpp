// Neighbours on the ring that this node does not reach itself, but others do.
//
// A partition may be partial: two nodes cut from each other and from nobody else. If they
// gave each other up, each would have leases from those beyond, and both act for what lies
// between them. So the last try of a neighbour's probe goes by way of a few other leaves as
// well (as the indirect probes of Das, Gupta, Motivala, "SWIM", DSN 2002). Where only that
// is answered the neighbour stays, and all that is for it goes through the one that was
// quickest (as in Alfatafta et al., "Nifty", OSDI 2020). Meanwhile it is tried directly every
// `heartbeat_interval`, and the first such try that it answers ends the relaying.
//
// What came by a relay is answered the same way, whatever the other's own relays are. A relay
// sends on between its leaves and whoever asks, not by relays of its own: one step at most.
// A part of a node. Bounded: relays of leaves only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "pastry/config.hpp"
#include "pastry/leaf_set.hpp"
#include "wire/env.hpp"

namespace canopy::pastry {

class Relays {
 public:
  Relays(const Config& config, const LeafSet& leaves, PeerRef self, wire::Env& env)
      : config_(config), leaves_(leaves), self_(self), env_(env) {}

  // --- Sending ---
  void send(PeerRef to, wire::Message message);
  // Where what is for the peer goes first.
  PeerRef first_hop(PeerRef peer) const noexcept;
  // An answer to what is being handled: the way that came.
  void answer(PeerRef to, wire::Message message);
  void send_through(PeerRef relay, PeerRef to, wire::Message message);
  // Who may reach a peer that this node does not: the leaves nearest to it, nearest first.
  std::vector<PeerRef> candidates(PeerRef peer) const;

  // --- What is being handled ---
  // From now on that is a message from this peer by that relay, or, empty, a direct one.
  void handle(PeerRef from, PeerRef relay) noexcept;
  bool came_by_relay(PeerRef from) const noexcept {
    return handled_relay_ && handled_from_ == from;
  }
  PeerRef handled_relay() const noexcept { return handled_relay_; }

  // --- Peers that are relayed ---
  bool contains(PeerRef peer) const noexcept;
  void add(PeerRef peer, PeerRef relay);
  // It has been heard from by the relay of what is being handled: that one works.
  void refresh(PeerRef peer) noexcept;
  // The peer has answered a direct probe with this nonce. Whether that ends its relaying.
  bool answered(PeerRef peer, std::uint32_t nonce);
  // The peer is lost: neither relayed nor a relay any more.
  void remove(PeerRef peer);

  // Tries directly whoever is due, with this nonce.
  void tick(std::uint32_t nonce);
  MonoTime deadline() const noexcept;
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Relayed {
    PeerRef peer;
    PeerRef relay;
    MonoTime next_try;
    std::uint32_t nonce = 0;  // of the last direct try
  };

  const Relayed* find(PeerRef peer) const noexcept;
  Relayed* find(PeerRef peer) noexcept;

  const Config& config_;
  const LeafSet& leaves_;
  PeerRef self_;
  wire::Env& env_;
  std::vector<Relayed> relayed_;
  PeerRef handled_from_;
  PeerRef handled_relay_;
};

}  // namespace canopy::pastry
