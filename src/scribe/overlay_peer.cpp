#include "scribe/overlay_peer.hpp"

#include <utility>

namespace canopy::scribe {

OverlayPeer::OverlayPeer(const OverlayConfig& config, PeerRef self, wire::Env& env, Events& events)
    : pastry_(config.pastry, self, env, scribe_), scribe_(config.scribe, pastry_, env, events) {}

void OverlayPeer::receive(PeerRef from, wire::Message message) {
  if (wire::for_pastry(message)) {
    pastry_.receive(from, std::move(message));
    scribe_.flush();
  } else {
    pastry_.heard_from(from);
    scribe_.receive(from, std::move(message));
  }
  finish_departure();
}

void OverlayPeer::tick() {
  pastry_.tick();
  scribe_.tick();
  finish_departure();
}

void OverlayPeer::unreachable(PeerRef peer) {
  if (pastry_.relayed(peer)) return;
  // While it is probed, that more is refused is no news: what is sent again because of
  // one refusal may go the same way, and be refused as well.
  const bool news = !pastry_.suspected(peer);
  pastry_.unreachable(peer);
  if (news) scribe_.unreachable(peer);
}

void OverlayPeer::depart() {
  departing_ = true;
  scribe_.depart();
  finish_departure();
}

void OverlayPeer::finish_departure() {
  if (!departing_ || goodbye_said_ || !scribe_.departed()) return;
  goodbye_said_ = true;
  pastry_.depart();
}

void OverlayPeer::collect_peers(std::vector<PeerRef>& in_use) const {
  pastry_.collect_peers(in_use);
  scribe_.collect_peers(in_use);
}

}  // namespace canopy::scribe
