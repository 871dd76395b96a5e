// What a protocol layer sees of the world: the daemon gives it sockets and the
// boot clock, the simulator a virtual network and virtual time. Layers hold it
// by reference and are called by their host on one thread only.
#pragma once

#include <cstddef>

#include "base/peer.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "wire/message.hpp"

namespace canopy::wire {

class Env {
 public:
  virtual MonoTime now() const = 0;
  virtual Random& random() = 0;
  virtual PeerTable& peers() = 0;

  // Hands a message over for sending; never blocks, never calls back into the
  // layer. It may get lost: what matters is acknowledged by the protocol.
  virtual void send(PeerRef to, Message message) = 0;

  // Bytes that were handed over for this peer and have not left yet; 0 where that
  // is not known.
  virtual std::size_t backlog(PeerRef /*to*/) { return 0; }

  // Asks for a tick() at this time at the latest. The earliest of all requests
  // since the last tick counts; the layer asks anew in every tick.
  virtual void wake_at(MonoTime deadline) = 0;

 protected:
  ~Env() = default;
};

}  // namespace canopy::wire
