#include "sim/ideal_routes.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace canopy::sim {

std::size_t IdealRoutes::next(std::size_t position, const Key& key) const {
  if (within_leaves(position, key.id)) return key.root;
  const unsigned b = config_.b;
  const Id& self = ring_[position].id;
  const unsigned row = shared_prefix_length(self, key.id, b);
  const unsigned column = key.id.digit(row, b);
  const auto before = [&](std::uint32_t entry) {
    const Id& id = ring_[entry].id;
    const unsigned entry_row = shared_prefix_length(self, id, b);
    return entry_row != row ? entry_row < row : id.digit(row, b) < column;
  };
  const auto entries = tables_.entries(position);
  const auto found = std::partition_point(entries.begin(), entries.end(), before);
  if (found != entries.end() && shared_prefix_length(ring_[*found].id, key.id, b) > row) {
    return *found;
  }
  return rare_case(position, key.id);
}

bool IdealRoutes::within_leaves(std::size_t position, const Id& key) const {
  const std::size_t half = config_.leaf_set_size / 2;
  const std::size_t size = ring_.size();
  if (size <= 2 * half + 1) return true;
  const Id& first = ring_[(position + size - half) % size].id;
  const Id& last = ring_[(position + half) % size].id;
  return key - first <= last - first;
}

std::size_t IdealRoutes::rare_case(std::size_t position, const Id& key) const {
  const unsigned row = shared_prefix_length(ring_[position].id, key, config_.b);
  std::size_t best = position;
  for (const std::size_t peer : tables_.peers_of(position)) {
    const Id& id = ring_[peer].id;
    if (shared_prefix_length(id, key, config_.b) >= row && closer_to(key, id, ring_[best].id)) {
      best = peer;
    }
  }
  CANOPY_ASSERT(best != position);
  return best;
}

}  // namespace canopy::sim
