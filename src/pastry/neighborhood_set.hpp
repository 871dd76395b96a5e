// The neighbourhood set of a Pastry node: the |M| peers closest to it by round
// trip, wherever on the ring they are. Not used in routing but for the rare
// case; it is where joiners and repair find peers that are near.
// A plain value, not thread-safe; the peer table must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"

namespace canopy::pastry {

class NeighborhoodSet {
 public:
  struct Entry {
    PeerRef peer;
    std::uint32_t distance_us = 0;
  };

  // `size` is |M|; 0 keeps the set empty.
  NeighborhoodSet(unsigned size, const PeerTable& peers);

  // Takes the peer in if it is among the closest (ties: the smaller id), and
  // whoever it pushes out leaves; a peer already in moves to its new distance,
  // another incarnation of it takes its place. True if the peers in it changed.
  // The distance must be known.
  bool insert(PeerRef peer, const Id& id, std::uint32_t distance_us);
  bool remove(PeerRef peer);
  bool contains(PeerRef peer) const noexcept;
  bool would_take(std::uint32_t distance_us) const noexcept;

  std::size_t size() const noexcept { return entries_.size(); }
  std::size_t capacity() const noexcept { return capacity_; }
  // Closest first.
  std::span<const Entry> all() const noexcept { return entries_; }

 private:
  std::size_t capacity_;
  const PeerTable* peers_;
  std::vector<Entry> entries_;
};

}  // namespace canopy::pastry
