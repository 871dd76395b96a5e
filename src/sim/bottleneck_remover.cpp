#include "sim/bottleneck_remover.hpp"

#include <limits>
#include <numeric>
#include <vector>

namespace canopy::sim {

namespace {

using PlaceIndex = GroupTrees::PlaceIndex;
constexpr PlaceIndex no_place = std::numeric_limits<PlaceIndex>::max();

class BottleneckRemover {
 public:
  BottleneckRemover(GroupTrees& trees, const Topology& topology, std::uint32_t children_max);
  std::uint64_t run();

 private:
  void list_children();
  void list_places();
  void relieve(NodeIndex node);
  PlaceIndex costliest_place(NodeIndex node) const;
  PlaceIndex farthest_child(PlaceIndex parent) const;
  PlaceIndex best_sibling(PlaceIndex child) const;
  void move(PlaceIndex child, PlaceIndex to);
  Duration delay(PlaceIndex a, PlaceIndex b) const {
    return topology_.delay(places_[a].node, places_[b].node);
  }

  GroupTrees& trees_;
  std::vector<GroupTrees::Place>& places_;
  const Topology& topology_;
  const std::uint32_t children_max_;
  std::vector<PlaceIndex> first_child_;   // by place
  std::vector<PlaceIndex> next_sibling_;  // by place
  std::vector<std::uint32_t> entries_;    // by node: children in all groups
  std::vector<std::uint32_t> begins_;     // by node, and the end: where its places begin in ..
  std::vector<PlaceIndex> places_of_;     // .. the places of all nodes
  std::vector<NodeIndex> overloaded_;
  std::uint64_t moves_ = 0;
};

BottleneckRemover::BottleneckRemover(GroupTrees& trees, const Topology& topology,
                                     std::uint32_t children_max)
    : trees_(trees), places_(trees.places), topology_(topology), children_max_(children_max) {
  list_children();
  list_places();
}

// From the last place to the first: so lists are in the order of places.
void BottleneckRemover::list_children() {
  first_child_.assign(places_.size(), no_place);
  next_sibling_.assign(places_.size(), no_place);
  for (PlaceIndex place = static_cast<PlaceIndex>(places_.size()); place-- > 0;) {
    if (trees_.is_root(place)) continue;
    next_sibling_[place] = first_child_[places_[place].parent];
    first_child_[places_[place].parent] = place;
  }
}

void BottleneckRemover::list_places() {
  entries_.assign(topology_.hosts(), 0);
  begins_.assign(topology_.hosts() + 1, 0);
  for (const auto& place : places_) {
    entries_[place.node] += place.children;
    ++begins_[place.node + 1];
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  places_of_.resize(places_.size());
  std::vector<std::uint32_t> filled = begins_;
  for (PlaceIndex place = 0; place < places_.size(); ++place) {
    places_of_[filled[places_[place].node]++] = place;
  }
}

std::uint64_t BottleneckRemover::run() {
  for (NodeIndex node = 0; node < entries_.size(); ++node) {
    if (entries_[node] > children_max_) overloaded_.push_back(node);
  }
  while (!overloaded_.empty()) {
    const NodeIndex node = overloaded_.back();
    overloaded_.pop_back();
    relieve(node);
  }
  return moves_;
}

// Each move takes a child one level down, so this comes to an end.
void BottleneckRemover::relieve(NodeIndex node) {
  while (entries_[node] > children_max_) {
    const PlaceIndex parent = costliest_place(node);
    if (places_[parent].children < 2) return;
    const PlaceIndex child = farthest_child(parent);
    move(child, best_sibling(child));
  }
}

PlaceIndex BottleneckRemover::costliest_place(NodeIndex node) const {
  PlaceIndex costliest = places_of_[begins_[node]];
  for (std::size_t i = begins_[node]; i < begins_[node + 1]; ++i) {
    if (places_[places_of_[i]].children > places_[costliest].children) costliest = places_of_[i];
  }
  return costliest;
}

PlaceIndex BottleneckRemover::farthest_child(PlaceIndex parent) const {
  PlaceIndex farthest = first_child_[parent];
  for (PlaceIndex child = farthest; child != no_place; child = next_sibling_[child]) {
    if (delay(child, parent) > delay(farthest, parent)) farthest = child;
  }
  return farthest;
}

PlaceIndex BottleneckRemover::best_sibling(PlaceIndex child) const {
  const PlaceIndex parent = places_[child].parent;
  PlaceIndex best = no_place;
  Duration least{};
  for (PlaceIndex at = first_child_[parent]; at != no_place; at = next_sibling_[at]) {
    if (at == child) continue;
    const Duration way = delay(child, at) + delay(at, parent);
    if (best != no_place && way >= least) continue;
    best = at;
    least = way;
  }
  return best;
}

void BottleneckRemover::move(PlaceIndex child, PlaceIndex to) {
  const PlaceIndex from = places_[child].parent;
  PlaceIndex* link = &first_child_[from];
  while (*link != child) link = &next_sibling_[*link];
  *link = next_sibling_[child];
  next_sibling_[child] = first_child_[to];
  first_child_[to] = child;
  places_[child].parent = to;
  --places_[from].children;
  --entries_[places_[from].node];
  ++places_[to].children;
  if (++entries_[places_[to].node] == children_max_ + 1) overloaded_.push_back(places_[to].node);
  ++moves_;
}

}  // namespace

std::uint64_t remove_bottlenecks(GroupTrees& trees, const Topology& topology,
                                 std::uint32_t children_max) {
  return BottleneckRemover(trees, topology, children_max).run();
}

}  // namespace canopy::sim
