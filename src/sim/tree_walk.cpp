#include "sim/tree_walk.hpp"

#include <optional>

#include <fmt/format.h>

namespace canopy::sim {

namespace {

class Walker {
 public:
  Walker(const Simulation& simulation, const RingOrder& ring, const Id& group)
      : simulation_(simulation), group_(group), present_(simulation.size(), false) {
    for (const auto& member : ring.members()) present_[member.node] = true;
    walk_.root = ring.closest(group);
  }

  TreeWalk walk() {
    std::vector<bool> reached(simulation_.size(), false);
    reached[walk_.root] = true;
    walk_.places.push_back({walk_.root, no_node, 0});
    for (std::size_t i = 0; i < walk_.places.size(); ++i) {
      const TreeWalk::Place place = walk_.places[i];
      const auto view = view_of(place.node);
      if (!view) continue;
      for (const PeerRef child : view->children) visit(place, child, reached);
    }
    for (NodeIndex node = 0; node < simulation_.size(); ++node) {
      if (present_[node]) check(node, reached[node]);
    }
    return std::move(walk_);
  }

 private:
  std::optional<scribe::GroupView> view_of(NodeIndex node) const {
    return simulation_.peer(node).scribe().view(group_);
  }

  std::string name(NodeIndex node) const {
    return simulation_.id(node).to_hex(simulation_.overlay_config().pastry.id_bits);
  }

  template <class... Args>
  void violation(fmt::format_string<Args...> format, Args&&... args) {
    walk_.violations.push_back(
        fmt::format("group {}: {}", group_.to_hex(simulation_.overlay_config().pastry.id_bits),
                    fmt::format(format, std::forward<Args>(args)...)));
  }

  void visit(const TreeWalk::Place& place, PeerRef child_ref, std::vector<bool>& reached) {
    const NodeIndex child = simulation_.node_of(child_ref);
    if (!present_[child] || simulation_.ref(child) != child_ref) {
      violation("{} has a child that is gone, {}", name(place.node), name(child));
      return;
    }
    if (reached[child]) {
      violation("{} is reached a second time, from {}", name(child), name(place.node));
      return;
    }
    reached[child] = true;
    const auto view = view_of(child);
    if (!view || view->parent != simulation_.ref(place.node)) {
      violation("{} takes {} for its child, which has another parent or none", name(place.node),
                name(child));
    }
    walk_.places.push_back({child, place.node, place.depth + 1});
  }

  void check(NodeIndex node, bool reached) {
    const auto view = view_of(node);
    if (!view) return;
    if (view->member) walk_.members.push_back(node);
    if (view->member && !reached) violation("member {} is not reached", name(node));
    if (view->root && node != walk_.root) {
      violation("{} takes itself for the root, which is {}", name(node), name(walk_.root));
    }
    const bool in_tree = view->member || !view->children.empty();
    if (!in_tree && !view->root) violation("{} is in the tree for nobody", name(node));
    if (node == walk_.root && in_tree && !view->root) {
      violation("the root {} does not take itself for it", name(node));
    }
  }

  const Simulation& simulation_;
  const Id group_;
  std::vector<bool> present_;
  TreeWalk walk_;
};

}  // namespace

TreeWalk walk_tree(const Simulation& simulation, const RingOrder& ring, const Id& group) {
  return Walker(simulation, ring, group).walk();
}

}  // namespace canopy::sim
