// Routes by ideal tables, worked out without any node: each hop by Pastry's rule
// (leaf set, routing table, rare case) from what IdealTables says that a member
// holds. So a million nodes fit, and what the protocol does has something to be
// held against. Members are named by their positions on the ring.
#pragma once

#include <cstddef>

#include "base/id.hpp"
#include "sim/ideal_tables.hpp"
#include "sim/ring_order.hpp"

namespace canopy::sim {

class IdealRoutes {
 public:
  // `ring` and `topology` must outlive this.
  IdealRoutes(const RingOrder& ring, const Topology& topology, const pastry::Config& config)
      : ring_(ring), config_(config), tables_(ring, topology, config) {}

  struct Key {
    Id id;
    std::size_t root = 0;  // whom it leads to
  };
  Key key(const Id& id) const { return {id, ring_.closest_position(id)}; }

  // The member after this one, which is not the key's root.
  std::size_t next(std::size_t position, const Key& key) const;

 private:
  bool within_leaves(std::size_t position, const Id& key) const;
  std::size_t rare_case(std::size_t position, const Id& key) const;

  const RingOrder& ring_;
  const pastry::Config config_;
  IdealTables tables_;
};

}  // namespace canopy::sim
