// What other peers are still owed of one ordered group's stream, as they have
// joined with an older position, or have asked for what they miss.
//
// Each has a cursor, up to which it was sent everything. A data structure
// without I/O; a few entries at most times. Not thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "base/peer.hpp"
#include "scribe/order_item.hpp"

namespace canopy::scribe {

struct Refill {
  PeerRef peer;
  wire::Position cursor;
  // Up to here, this one not included. None: until it has all, and nothing live
  // goes to it before that.
  wire::Position before;

  bool catches_up() const noexcept { return !before; }
  // Whether an item after the cursor is still part of it.
  bool wants(const wire::Position& position) const noexcept {
    return position > cursor && (catches_up() || position < before);
  }
};

class Refills {
 public:
  using List = std::vector<Refill>;

  // Whoever is catching up goes on doing so, from the cursor of the newer word.
  void add(PeerRef peer, const wire::Position& after, const wire::Position& before);
  void remove(PeerRef peer);
  bool catching_up(PeerRef peer) const noexcept;

  bool empty() const noexcept { return refills_.empty(); }
  List& all() noexcept { return refills_; }
  const List& all() const noexcept { return refills_; }

  // The earliest cursor from which on a history with this base does not have all.
  std::optional<wire::Position> uncovered(const wire::Position& base) const noexcept;

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  List refills_;
};

}  // namespace canopy::scribe
