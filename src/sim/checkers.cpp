#include "sim/checkers.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scribe/load_rule.hpp"
#include "sim/tree_walk.hpp"

namespace canopy::sim {

namespace {

std::string hex(const Simulation& simulation, const Id& id) {
  return id.to_hex(simulation.overlay_config().pastry.id_bits);
}

}  // namespace

RingOrder running_nodes(const Simulation& simulation) {
  std::vector<RingOrder::Member> members;
  for (NodeIndex node = 0; node < simulation.size(); ++node) {
    if (!simulation.stopped(node)) members.push_back({simulation.id(node), node});
  }
  return RingOrder(std::move(members));
}

Findings check_leaf_sets(const Simulation& simulation, const RingOrder& ring) {
  Findings findings;
  const std::size_t half = simulation.overlay_config().pastry.leaf_set_size / 2;
  for (std::size_t position = 0; position < ring.size(); ++position) {
    const RingOrder::Member& member = ring[position];
    if (!simulation.active(member.node)) {
      findings.push_back(fmt::format("{} is not active", hex(simulation, member.id)));
      continue;
    }
    std::vector<std::uint32_t> expected;
    for (const std::size_t leaf : ring.leaves(position, half)) {
      expected.push_back(simulation.ref(ring[leaf].node).index());
    }
    std::vector<std::uint32_t> actual;
    for (const auto& leaf : simulation.peer(member.node).pastry().leaf_set().all()) {
      actual.push_back(leaf.peer.index());
    }
    std::sort(expected.begin(), expected.end());
    std::sort(actual.begin(), actual.end());
    if (actual == expected) continue;
    const auto names = [&](const std::vector<std::uint32_t>& some,
                           const std::vector<std::uint32_t>& others) {
      std::vector<std::string> texts;
      for (const std::uint32_t peer : some) {
        if (std::binary_search(others.begin(), others.end(), peer)) continue;
        const NodeIndex node = simulation.node_of(PeerRef(peer));
        const bool present = !simulation.stopped(node) && simulation.ref(node) == PeerRef(peer);
        texts.push_back(hex(simulation, simulation.id(node)) + (present ? "" : " (gone)"));
      }
      return texts;
    };
    findings.push_back(fmt::format(
        "leaf set of {}: lacks [{}], should not have [{}]", hex(simulation, member.id),
        fmt::join(names(expected, actual), ", "), fmt::join(names(actual, expected), ", ")));
  }
  return findings;
}

Findings check_roots(const Simulation& simulation, const RingOrder& ring,
                     const std::vector<Id>& keys) {
  Findings findings;
  for (const Id& key : keys) {
    const NodeIndex root = ring.closest(key);
    for (const auto& member : ring.members()) {
      const bool claims =
          simulation.active(member.node) && simulation.peer(member.node).pastry().is_root(key);
      if (claims == (member.node == root)) continue;
      findings.push_back(fmt::format("{} {} for the root of {}", hex(simulation, member.id),
                                     claims ? "wrongly takes itself" : "does not take itself",
                                     hex(simulation, key)));
    }
  }
  return findings;
}

Findings check_trees(const Simulation& simulation, const RingOrder& ring) {
  std::set<Id> groups;
  for (const auto& member : ring.members()) {
    for (const Id& group : simulation.peer(member.node).scribe().groups()) groups.insert(group);
  }
  Findings findings;
  for (const Id& group : groups) {
    TreeWalk walk = walk_tree(simulation, ring, group);
    std::move(walk.violations.begin(), walk.violations.end(), std::back_inserter(findings));
  }
  return findings;
}

namespace {

// What each node is in, and with how many children in all.
struct NodeLoad {
  std::vector<scribe::GroupView> places;
  std::size_t entries = 0;
};

std::vector<NodeLoad> loads_of(const Simulation& simulation, const RingOrder& ring) {
  std::vector<NodeLoad> loads(simulation.size());
  for (const auto& member : ring.members()) {
    const scribe::Scribe& scribe = simulation.peer(member.node).scribe();
    for (const Id& group : scribe.groups()) {
      loads[member.node].places.push_back(*scribe.view(group));
      loads[member.node].entries += loads[member.node].places.back().children.size();
    }
  }
  return loads;
}

}  // namespace

Findings check_degrees(const Simulation& simulation, const RingOrder& ring) {
  Findings findings;
  const std::size_t most = simulation.overlay_config().scribe.children_entries_max;
  if (most == 0) return findings;
  const std::vector<NodeLoad> loads = loads_of(simulation, ring);
  for (const auto& member : ring.members()) {
    const NodeLoad& load = loads[member.node];
    if (load.entries <= most) continue;
    const auto has_room = [&](PeerRef child) {
      const std::size_t entries = loads[simulation.node_of(child)].entries;
      return scribe::relieves(entries, load.entries, most);
    };
    const auto could_be_helped = [&](const scribe::GroupView& place) {
      return place.children.size() > 1 && std::ranges::any_of(place.children, has_room);
    };
    if (std::ranges::any_of(load.places, could_be_helped)) {
      findings.push_back(fmt::format("{} has {} children, more than {}, and keeps them",
                                     hex(simulation, member.id), load.entries, most));
    }
  }
  return findings;
}

Findings check_paths(const Simulation& simulation, const RingOrder& ring) {
  Findings findings;
  if (!simulation.overlay_config().scribe.path_collapse) return findings;
  const std::vector<NodeLoad> loads = loads_of(simulation, ring);
  for (const auto& member : ring.members()) {
    for (const scribe::GroupView& place : loads[member.node].places) {
      if (place.member || place.root || place.children.size() != 1) continue;
      findings.push_back(fmt::format("{} is in the tree of {} for one child alone",
                                     hex(simulation, member.id), hex(simulation, place.group)));
    }
  }
  return findings;
}

Findings check_encoding(const Simulation& simulation) {
  if (simulation.unencodable() == 0) return {};
  return {fmt::format("{} messages could not be encoded", simulation.unencodable())};
}

}  // namespace canopy::sim
