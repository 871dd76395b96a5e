#include "pastry/departed.hpp"

#include <algorithm>

namespace canopy::pastry {

void Departed::add(PeerRef peer, bool said_goodbye, MonoTime now) {
  if (size_max_ == 0) return;
  const auto known = std::ranges::find(peers_, peer, &Entry::peer);
  if (known != peers_.end()) {
    known->said_goodbye |= said_goodbye;
    return;
  }
  if (peers_.size() == size_max_) {
    // The one that is tried just now stays: its silence is no news.
    const bool keep_first = size_max_ > 1 && peers_.front().peer == picked_;
    peers_.erase(peers_.begin() + (keep_first ? 1 : 0));
  }
  peers_.push_back({peer, said_goodbye, now});
}

void Departed::remove(PeerRef peer) {
  std::erase_if(peers_, [peer](const Entry& entry) { return entry.peer == peer; });
}

bool Departed::renew(PeerRef peer, const PeerTable& peers) {
  const auto is_earlier = [&](const Entry& entry) {
    return !entry.said_goodbye && peers.id(entry.peer) == peers.id(peer) &&
           peers[entry.peer].incarnation < peers[peer].incarnation;
  };
  const auto earlier = std::ranges::find_if(peers_, is_earlier);
  if (earlier == peers_.end()) return false;
  if (contains(peer)) {
    peers_.erase(earlier);
  } else {
    earlier->peer = peer;
    earlier->met = true;
  }
  return true;
}

void Departed::named(PeerRef neighbor, std::span<const PeerRef> living) {
  for (Entry& entry : peers_) {
    if (!entry.said_goodbye && std::ranges::find(living, entry.peer) != living.end()) {
      entry.vouched_by = neighbor;
    } else if (entry.vouched_by == neighbor) {
      entry.vouched_by = {};
    }
  }
}

std::vector<PeerRef> Departed::take_vouched_for(PeerRef neighbor) {
  std::vector<PeerRef> found;
  for (Entry& entry : peers_) {
    if (entry.vouched_by != neighbor) continue;
    entry.vouched_by = {};
    found.push_back(entry.peer);
  }
  return found;
}

bool Departed::contains(PeerRef peer) const noexcept {
  return std::ranges::any_of(peers_, [peer](const Entry& entry) { return entry.peer == peer; });
}

bool Departed::fell_silent(PeerRef peer) const noexcept {
  return std::ranges::any_of(
      peers_, [peer](const Entry& entry) { return entry.peer == peer && !entry.said_goodbye; });
}

bool Departed::in_quarantine(PeerRef peer, MonoTime now) const noexcept {
  return std::any_of(peers_.begin(), peers_.end(), [&](const Entry& entry) {
    return entry.peer == peer && in_quarantine(entry, now);
  });
}

std::vector<PeerRef> Departed::in_quarantine(MonoTime now) const {
  std::vector<PeerRef> found;
  for (const Entry& entry : peers_) {
    if (in_quarantine(entry, now)) found.push_back(entry.peer);
  }
  return found;
}

PeerRef Departed::pick(Random& random, MonoTime now) {
  std::erase_if(peers_, [&](const Entry& entry) { return now >= entry.since + memory_; });
  std::vector<PeerRef> silent;
  for (const Entry& entry : peers_) {
    if (!entry.said_goodbye && !in_quarantine(entry, now)) silent.push_back(entry.peer);
  }
  picked_ = silent.empty() ? PeerRef() : silent[random.below(silent.size())];
  return picked_;
}

void Departed::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Entry& entry : peers_) in_use.push_back(entry.peer);
}

}  // namespace canopy::pastry
