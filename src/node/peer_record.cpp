#include "node/peer_record.hpp"

#include <utility>

#include "net/clock.hpp"
#include "net/log.hpp"

namespace canopy::node {

PeerRecord::PeerRecord(std::string name, TimerQueue& timers, Keep keep, Look look)
    : name_(std::move(name)), timers_(timers), keep_(std::move(keep)), look_(std::move(look)) {}

void PeerRecord::restore(KnownPeers peers) {
  peers_ = std::move(peers);
  on_disk_ = peers_;
}

void PeerRecord::start() {
  look_now();
  next_look_ = timers_.after(pause, [this] { start(); });
}

void PeerRecord::look_now() {
  peers_ = updated(peers_, look_(), net::wall_now());
  if (!under_way_ && are_news(peers_, on_disk_)) write();
}

void PeerRecord::write() {
  under_way_ = true;
  keep_(peers_, [this, peers = peers_](boost::system::error_code error) { tried(peers, error); });
}

// What has changed meanwhile is written at once, as there may be no next look; what was
// refused at the next.
void PeerRecord::tried(const KnownPeers& peers, boost::system::error_code error) {
  under_way_ = false;
  if (!error) {
    on_disk_ = peers;
    if (std::exchange(failing_, false))
      log::info("{}: the peers that it knows are on disk again", name_);
    if (are_news(peers_, on_disk_)) write();
    return;
  }
  ++failures_;
  if (!std::exchange(failing_, true))
    log::error("{}: cannot keep the peers that it knows on disk: {}: trying again", name_,
               error.message());
}

}  // namespace canopy::node
