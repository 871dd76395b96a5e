#include "sim/group_trees.hpp"

namespace canopy::sim {

void collapse_paths(GroupTrees& trees) {
  using PlaceIndex = GroupTrees::PlaceIndex;
  auto& places = trees.places;
  const auto gone = [&](PlaceIndex place) {
    return places[place].children == 1 && !places[place].member && !trees.is_root(place);
  };
  std::vector<PlaceIndex> moved_to(places.size());
  PlaceIndex kept = 0;
  for (PlaceIndex place = 0; place < places.size(); ++place) {
    moved_to[place] = kept;
    if (gone(place)) continue;
    ++kept;
    while (gone(places[place].parent)) places[place].parent = places[places[place].parent].parent;
  }
  for (PlaceIndex& begin : trees.begins) begin = moved_to[begin];
  for (PlaceIndex place = 0; place < places.size(); ++place) {
    if (gone(place)) continue;
    GroupTrees::Place& moved = places[moved_to[place]];
    moved = places[place];
    moved.parent = moved_to[moved.parent];
  }
  places.resize(kept);
}

}  // namespace canopy::sim
