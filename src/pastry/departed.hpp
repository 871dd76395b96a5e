// Peers that failed or said goodbye lately.
//
// So that hearsay does not bring a dead peer back while others still list it:
// for `quarantine` after its own probes failed a node does not ask a peer again
// because of hearsay. After that it may, and the peers that fell silent without
// a goodbye are tried again now and then for as long as they are remembered.
// Ring merge starts from here: both halves of a split ring hold the other half in
// these memories. And whoever was given up wrongly is found again here, as long as a
// neighbour knows better, before this node acts in its place. Bounded: the oldest are forgotten
// first, but for the one picked last. A plain value, not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/peer.hpp"
#include "base/random.hpp"
#include "base/time.hpp"

namespace canopy::pastry {

class Departed {
 public:
  Departed(std::size_t size_max, Duration quarantine, Duration memory)
      : size_max_(size_max), quarantine_(quarantine), memory_(memory) {}

  // Who is in already stays as long as from the first time.
  void add(PeerRef peer, bool said_goodbye, MonoTime now);
  // The peer is alive.
  void remove(PeerRef peer);
  // A process has been met: if an earlier one of that peer has fallen silent, it takes that
  // one's place, out of quarantine. Whether it has.
  bool renew(PeerRef peer, const PeerTable& peers);

  // A neighbour names those beyond it that live, as far as it knows: it vouches for these, and
  // no longer for others.
  void named(PeerRef neighbor, std::span<const PeerRef> living);
  // Those for whom a neighbour vouches that is gone itself now; nobody does any more.
  std::vector<PeerRef> take_vouched_for(PeerRef neighbor);

  bool contains(PeerRef peer) const noexcept;
  // Is in, and did not say goodbye.
  bool fell_silent(PeerRef peer) const noexcept;
  bool in_quarantine(PeerRef peer, MonoTime now) const noexcept;
  // Those in quarantine, oldest first.
  std::vector<PeerRef> in_quarantine(MonoTime now) const;
  // One that fell silent and is worth trying again; empty if there is none.
  PeerRef pick(Random& random, MonoTime now);

  std::size_t size() const noexcept { return peers_.size(); }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Entry {
    PeerRef peer;
    bool said_goodbye;
    MonoTime since;
    bool met = false;      // alive, but not heard from
    PeerRef vouched_by{};  // only compared
  };

  bool in_quarantine(const Entry& entry, MonoTime now) const noexcept {
    return !entry.met && now < entry.since + quarantine_;
  }

  std::size_t size_max_;
  Duration quarantine_;
  Duration memory_;
  std::vector<Entry> peers_;  // oldest first
  PeerRef picked_;            // to be tried again; only compared
};

}  // namespace canopy::pastry
