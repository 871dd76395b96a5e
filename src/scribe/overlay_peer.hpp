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
  OverlayPeer(const OverlayPeer&) = delete;
  OverlayPeer& operator=(const OverlayPeer&) = delete;

  void receive(PeerRef from, wire::Message message);  // also counts as a sign of life
  void tick();
  void unreachable(PeerRef peer);
  // Begins the departure: hands state over, sees children off, says goodbye.
  // The host goes on passing messages and ticks in until departed() is true
  // (Config::departure_timeout at the latest) and its queues are flushed.
  void depart();
  bool departed() const noexcept { return goodbye_said_; }

  pastry::Pastry& pastry() noexcept { return pastry_; }
  const pastry::Pastry& pastry() const noexcept { return pastry_; }
  Scribe& scribe() noexcept { return scribe_; }
  const Scribe& scribe() const noexcept { return scribe_; }

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  void finish_departure();

  pastry::Pastry pastry_;
  Scribe scribe_;
  bool departing_ = false;
  bool goodbye_said_ = false;
};

}  // namespace canopy::scribe
