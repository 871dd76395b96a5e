// Pastry and Scribe composed into one peer: what a daemon and a simulated node
// both host. The host implements wire::Env, passes received messages and ticks
// in, and forwards hints of its transport. Not thread-safe.
#pragma once

#include "pastry/pastry.hpp"
#include "scribe/scribe.hpp"

namespace canopy::scribe {

struct OverlayConfig {
  pastry::Config pastry;
  Config scribe;
};

class OverlayPeer {
 public:
  OverlayPeer(const OverlayConfig& config, PeerRef self, wire::Env& env, Events& events);

  void receive(PeerRef from, wire::Message message);  // also counts as a sign of life
  void tick();
  void unreachable(PeerRef peer);
  // Leaves trees, hands state over, says goodbye. The host stops once its
  // queues are flushed.
  void depart();

  pastry::Pastry& pastry() noexcept;
  const pastry::Pastry& pastry() const noexcept;
  Scribe& scribe() noexcept;
  const Scribe& scribe() const noexcept;

  void collect_peers(std::vector<PeerRef>& in_use) const;
};

}  // namespace canopy::scribe
