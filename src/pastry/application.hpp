// The upcalls of the common KBR interface: what Pastry tells the layer on top.
// Called on the overlay's thread, from within Pastry::receive, route, tick,
// join and found; the application may call back into Pastry.
#pragma once

#include "base/time.hpp"
#include "wire/message.hpp"

namespace canopy::pastry {

enum class ForwardAction { proceed, stop };

class Application {
 public:
  // The message came (or starts) here and would go on to `next_hop`, which the
  // application may change; so may it replace message.body. `from` is the
  // previous hop, empty where the message starts.
  virtual ForwardAction forward(PeerRef from, wire::Routed& message, PeerRef& next_hop) = 0;

  // This node is the root of message.key.
  virtual void deliver(PeerRef from, const wire::Routed& message) = 0;

  // A message for this layer that a third peer has relayed: one that comes directly is the
  // host's to pass on.
  virtual void receive(PeerRef /*from*/, wire::Message /*message*/) {}

  // The leaf set gained or lost somebody: roots may have moved.
  virtual void leaf_set_changed() = 0;

  // One of the leaf set has failed, or come back as another process: what it knew is
  // lost. Told before peer_failed.
  virtual void leaf_failed(PeerRef /*peer*/) {}

  // This node's own probes of the peer failed, its links cannot be restored,
  // it said goodbye, or a new incarnation took its place.
  virtual void peer_failed(PeerRef peer) = 0;

  // The node is a full member of the ring from now on.
  virtual void activated() = 0;

  // The join cannot succeed as things are; it keeps trying. Told once for each
  // reason in a row. For logs: a literal.
  virtual void join_stalled(std::string_view reason) = 0;

  // The round trip to a peer has been measured, here or by the peer.
  virtual void measured(PeerRef /*peer*/, Duration /*round_trip*/) {}

  // This process was stopped, or starved, for so long that others may have given
  // it up, and do its work by now. Told before what has come in meanwhile.
  virtual void stalled() {}

  // Another process with this node's id and a later incarnation is about: the
  // others listen to that one from now on.
  virtual void superseded(PeerRef /*by*/) {}

 protected:
  ~Application() = default;
};

}  // namespace canopy::pastry
