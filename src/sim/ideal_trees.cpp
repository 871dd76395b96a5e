#include "sim/ideal_trees.hpp"

#include "base/assert.hpp"

namespace canopy::sim {

IdealTrees::IdealTrees(const RingOrder& ring, const IdealRoutes& routes)
    : ring_(ring), routes_(routes), place_of_(ring.size(), none) {}

void IdealTrees::grow(const Id& group, const std::vector<std::uint32_t>& members) {
  const auto root = static_cast<GroupTrees::PlaceIndex>(trees_.places.size());
  CANOPY_ASSERT(root < none - ring_.size());
  trees_.begins.push_back(root);
  const IdealRoutes::Key key = routes_.key(group);
  add(key.root, root);
  for (const std::uint32_t member : members) {
    join(member, key);
    trees_.places[place_of_[member]].member = true;
  }
}

void IdealTrees::join(std::size_t position, const IdealRoutes::Key& key) {
  route_.clear();
  for (; !in_tree(position); position = routes_.next(position, key)) route_.push_back(position);
  GroupTrees::PlaceIndex parent = place_of_[position];
  for (; !route_.empty(); route_.pop_back()) {
    add(route_.back(), parent);
    ++trees_.places[parent].children;
    parent = place_of_[route_.back()];
  }
}

void IdealTrees::add(std::size_t position, GroupTrees::PlaceIndex parent) {
  place_of_[position] = static_cast<GroupTrees::PlaceIndex>(trees_.places.size());
  trees_.places.push_back({ring_[position].node, parent});
}

}  // namespace canopy::sim
