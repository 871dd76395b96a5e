// What every node would hold if it knew the whole ring: exact leaf sets, the
// closest of all nodes that fit in every routing table entry, the closest of
// all nodes in the neighbourhood set (ties: the smaller id).
//
// The state is worked out from the definitions and put into the production
// sets through Pastry::learn, the closest peer first, with its rank by distance
// for a round trip: so nothing but the order of distances counts, exactly.
// Whole rings of 100,000 nodes take seconds, because all hosts of a site have
// the same closest candidates. Members are named by their positions on the ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pastry/config.hpp"
#include "sim/ring_order.hpp"
#include "sim/simulation.hpp"
#include "sim/topology.hpp"

namespace canopy::sim {

class IdealTables {
 public:
  // `ring` and `topology` must outlive this.
  IdealTables(const RingOrder& ring, const Topology& topology, const pastry::Config& config);

  // The routing table of a member, by row and column.
  std::span<const std::uint32_t> entries(std::size_t position) const {
    return {entries_.data() + entries_begin_[position],
            entries_.data() + entries_begin_[position + 1]};
  }
  // Its leaves, entries and neighbours, each once, the closest first.
  std::vector<std::size_t> peers_of(std::size_t position) const;

 private:
  // A value per site that all sites lose at once.
  class PerSite {
   public:
    void clear(std::size_t sites);
    bool has(std::size_t site) const { return written_[site] == round_; }
    std::uint32_t operator[](std::size_t site) const { return values_[site]; }
    void set(std::size_t site, std::uint32_t value);

   private:
    std::vector<std::uint32_t> written_;  // in which round
    std::vector<std::uint32_t> values_;
    std::uint32_t round_ = 0;
  };

  // Members [begin, end) have the same first digits, and [part_begin, part_end) of
  // them the same next one.
  struct Block {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t part_begin = 0;
    std::size_t part_end = 0;
  };

  void find_sites();
  void find_table_entries();
  template <class Visit>
  void visit_blocks(unsigned row, Visit&& visit) const;
  void find_entries_towards(const Block& block, std::vector<std::size_t>& filled);
  std::uint32_t closest_of(const std::vector<std::size_t>& candidates, std::size_t position) const;
  std::uint32_t closest_near(std::size_t site) const;
  double site_distance(std::size_t a, std::size_t b) const;
  void find_nearest();
  std::size_t site_of(std::size_t position) const { return site_of_[position]; }

  const RingOrder& ring_;
  const Topology& topology_;
  const pastry::Config config_;
  PerSite candidate_at_;  // where a member is looked for: the one of smallest id
  PerSite closest_to_site_;
  std::vector<std::size_t> site_of_;                    // by position on the ring
  std::vector<std::vector<std::size_t>> at_site_;       // positions, in id order
  std::vector<std::size_t> entries_begin_;              // by position, and the end
  std::vector<std::uint32_t> entries_;                  // of all routing tables
  std::vector<std::vector<std::uint32_t>> neighbors_;   // by site: the closest, one more than |M|
  std::vector<std::vector<std::uint32_t>> near_sites_;  // by site: the closest, itself included
};

// Makes each member active on its own and teaches it its peers.
void fill_ideal_tables(Simulation& simulation, const RingOrder& ring);

// Teaches the member at this position its leaves, and that there are others if
// there are: by the next beyond, which finds no place in the leaf set.
void teach_leaves(Simulation& simulation, const RingOrder& ring, std::size_t position);

}  // namespace canopy::sim
