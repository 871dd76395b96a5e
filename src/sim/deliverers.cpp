#include "sim/deliverers.hpp"

#include <algorithm>
#include <cstdint>

namespace canopy::sim {

namespace {

class Cover {
 public:
  Cover(Simulation& simulation, const RingOrder& ring, const std::vector<Id>& keys)
      : simulation_(simulation), ring_(ring), keys_(keys), claims_(keys.size(), 0) {}

  KeyCover count() {
    for (const auto& [id, node] : ring_.members()) {
      if (simulation_.state(node) == NodeState::running && simulation_.active(node)) {
        ask(id, node);
      }
    }
    cover_.keys = keys_.size();
    for (const std::uint8_t claims : claims_) {
      if (claims == 0) ++cover_.unserved;
      if (claims > 1) ++cover_.contested;
    }
    return cover_;
  }

 private:
  void ask(const Id& id, NodeIndex node) {
    pastry::Pastry& pastry = simulation_.peer(node).pastry();
    const pastry::LeafSet& leaves = pastry.leaf_set();
    const bool alone = leaves.empty();
    const Id from = alone ? id : simulation_.peers().id(leaves.left());
    const Id to = alone ? id : simulation_.peers().id(leaves.right());
    const bool everywhere = alone || from == to;  // with one leaf: all around the ring
    const std::size_t first = everywhere ? 0 : place_of(from);
    const std::size_t count =
        everywhere ? keys_.size() : (place_of(to) + keys_.size() - first) % keys_.size() + 1;
    for (std::size_t i = 0; i < std::min(count, keys_.size()); ++i) {
      const std::size_t at = (first + i) % keys_.size();
      if (!pastry.is_root(keys_[at]) || !pastry.may_act(keys_[at])) continue;
      if (++claims_[at] == 1 && ring_.closest(keys_[at]) != node) ++cover_.misplaced;
    }
  }

  // Of the first key there or clockwise of it.
  std::size_t place_of(const Id& id) const {
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), id);
    return static_cast<std::size_t>(at - keys_.begin()) % keys_.size();
  }

  Simulation& simulation_;
  const RingOrder& ring_;
  const std::vector<Id>& keys_;
  std::vector<std::uint8_t> claims_;
  KeyCover cover_;
};

}  // namespace

KeyCover cover_of(Simulation& simulation, const RingOrder& ring, const std::vector<Id>& keys) {
  return keys.empty() ? KeyCover() : Cover(simulation, ring, keys).count();
}

}  // namespace canopy::sim
