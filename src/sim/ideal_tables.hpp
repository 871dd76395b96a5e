// What every node would hold if it knew the whole ring: exact leaf sets, the
// closest of all nodes that fit in every routing table entry, the closest of
// all nodes in the neighbourhood set (ties: the smaller id).
//
// The state is worked out from the definitions and put into the production
// sets through Pastry::learn, the closest peer first, with its rank by distance
// for a round trip: so nothing but the order of distances counts, exactly.
// Whole rings of 100,000 nodes take seconds, because all hosts of a site have
// the same closest candidates.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/ring_order.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

// Teaches the member at this position its leaves, and that there are others if
// there are: by the next beyond, which finds no place in the leaf set.
void teach_leaves(Simulation& simulation, const RingOrder& ring, std::size_t position);

class IdealTables {
 public:
  // For the ring of these members, by the constants and topology of this simulation.
  IdealTables(const Simulation& simulation, const RingOrder& ring);

  // Makes each member active on its own and teaches it its peers.
  void fill(Simulation& simulation) const;

 private:
  // A value per site that all sites lose at once.
  class PerSite {
   public:
    void clear(std::size_t sites);
    bool has(std::size_t site) const { return written_[site] == round_; }
    std::uint32_t& operator[](std::size_t site);

   private:
    std::vector<std::uint32_t> written_;  // in which round
    std::vector<std::uint32_t> values_;
    std::uint32_t round_ = 0;
  };

  void find_sites(const Simulation& simulation);
  void find_table_entries(const Simulation& simulation);
  void find_entries_of_row(unsigned row, const Simulation& simulation);
  void find_entries_towards(std::size_t begin, std::size_t end, std::size_t block_begin,
                            std::size_t block_end, const Simulation& simulation);
  std::uint32_t closest_of(const std::vector<std::size_t>& candidates, std::size_t position,
                           const Topology& topology) const;
  void find_neighbors(const Simulation& simulation);
  std::vector<std::size_t> peers_of(std::size_t position, const Simulation& simulation) const;
  std::size_t site_of(std::size_t position) const { return site_of_[position]; }

  const RingOrder& ring_;
  PerSite candidates_seen_;
  PerSite closest_to_site_;
  std::vector<std::size_t> site_of_;                   // by position on the ring
  std::vector<std::vector<std::size_t>> at_site_;      // positions, in id order
  std::vector<std::vector<std::uint32_t>> entries_;    // by position: those of its routing table
  std::vector<std::vector<std::uint32_t>> neighbors_;  // by site: the closest, one more than |M|
};

}  // namespace canopy::sim
