// The routing table of a Pastry node: row l holds peers that share exactly the
// first l digits with it, one for each value of the next digit; of all that
// would fit an entry, one of the node's own zone, if it has one, and of these the
// closest by round trip (ties: the smaller id).
//
// Sparse: one array of the entries that exist, ordered by row and column, since
// only log_2^b N rows of a table are ever populated. Distances are kept with
// the entries, in microseconds of round trip. A plain value, not thread-safe;
// the peer table must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"

namespace canopy::pastry {

// A distance that nobody has measured: farther than any that somebody has.
inline constexpr std::uint32_t unknown_distance = 0xffffffff;

class RoutingTable {
 public:
  struct Entry {
    PeerRef peer;
    std::uint32_t distance_us = unknown_distance;
    std::uint16_t row = 0;
    std::uint16_t column = 0;
  };
  struct Slot {
    unsigned row = 0;
    unsigned column = 0;
    friend bool operator==(const Slot&, const Slot&) = default;
  };

  // `zone` is the node's own label; without one, labels do not matter.
  RoutingTable(const Id& self, unsigned b, const PeerTable& peers, std::string zone = {});

  // Takes the peer in if its entry is empty, if it is better than the one
  // there, or if it is that one with a new distance, or another incarnation of
  // it. A peer of unknown distance fills empty entries only. True if the set of
  // peers in the table changed.
  bool insert(PeerRef peer, const Id& id, std::uint32_t distance_us);
  bool remove(PeerRef peer, const Id& id);

  // Where a peer of this id belongs. The id must not be the node's own.
  Slot slot_of(const Id& id) const noexcept;
  // The entry at this place; an empty handle if it is empty.
  PeerRef at(unsigned row, unsigned column) const noexcept;
  PeerRef at(Slot slot) const noexcept { return at(slot.row, slot.column); }
  // The entry's distance; unknown_distance if it is empty or not measured.
  std::uint32_t distance_at(Slot slot) const noexcept;
  // The entry for the next digit of the key after the shared prefix.
  PeerRef towards(const Id& key) const noexcept;
  bool contains(PeerRef peer, const Id& id) const noexcept;
  // Whether insert would put the peer into the table.
  bool would_take(PeerRef peer, const Id& id, std::uint32_t distance_us) const noexcept;

  // Whether the peer is of the node's zone and the entry for it is not.
  bool prefers_zone_of(PeerRef peer, const Id& id) const noexcept;

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  // One more than the deepest row that has an entry.
  unsigned rows() const noexcept { return empty() ? 0 : entries_.back().row + 1U; }
  // The entries of a row in column order, and all of them in row order.
  std::span<const Entry> row(unsigned index) const noexcept;
  // So many peers of a row, the closest first (ties: in column order), or all.
  std::vector<PeerRef> closest_in_row(unsigned index, std::size_t count) const;
  std::span<const Entry> all() const noexcept { return entries_; }
  unsigned b() const noexcept { return b_; }

 private:
  std::size_t position(Slot slot) const noexcept;
  bool holds(std::size_t at, Slot slot) const noexcept;
  bool in_zone(PeerRef peer) const noexcept;
  bool better(const Entry& incumbent, PeerRef peer, const Id& id,
              std::uint32_t distance_us) const noexcept;

  Id self_;
  unsigned b_;
  const PeerTable* peers_;
  std::string zone_;
  std::vector<Entry> entries_;
};

}  // namespace canopy::pastry
