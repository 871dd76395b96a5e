#include "sim/live_ring.hpp"

#include <iterator>

#include "base/assert.hpp"

namespace canopy::sim {

void LiveRing::add(const Id& id, NodeIndex node) {
  const bool fresh = places_.emplace(id, nodes_.size()).second;
  CANOPY_ASSERT(fresh);
  nodes_.push_back({id, node});
}

void LiveRing::remove(const Id& id) {
  const auto found = places_.find(id);
  if (found == places_.end()) return;
  const std::size_t place = found->second;
  nodes_[place] = nodes_.back();
  places_[nodes_[place].id] = place;
  nodes_.pop_back();
  places_.erase(id);
}

// The first at the id or clockwise of it.
LiveRing::Places::const_iterator LiveRing::after(const Id& id) const {
  const auto place = places_.lower_bound(id);
  return place == places_.end() ? places_.begin() : place;
}

NodeIndex LiveRing::closest(const Id& key) const {
  CANOPY_ASSERT(!places_.empty());
  const auto right = after(key);
  const auto left = std::prev(right == places_.begin() ? places_.end() : right);
  return nodes_[(closer_to(key, left->first, right->first) ? left : right)->second].node;
}

std::vector<NodeIndex> LiveRing::around(const Id& id, std::size_t each_side) const {
  std::vector<NodeIndex> nodes;
  if (places_.size() <= 2 * each_side) {
    for (const Member& member : nodes_) nodes.push_back(member.node);
    return nodes;
  }
  auto right = after(id);
  auto left = right;
  for (std::size_t i = 0; i < each_side; ++i) {
    left = std::prev(left == places_.begin() ? places_.end() : left);
    nodes.push_back(nodes_[left->second].node);
    nodes.push_back(nodes_[right->second].node);
    if (++right == places_.end()) right = places_.begin();
  }
  return nodes;
}

}  // namespace canopy::sim
