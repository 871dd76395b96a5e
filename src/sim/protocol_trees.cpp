#include "sim/protocol_trees.hpp"

#include <algorithm>
#include <chrono>

#include "scribe/group_name.hpp"
#include "sim/checkers.hpp"

namespace canopy::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration created_after = 10s;
constexpr Duration joining_time = 30s;  // for the members of all groups
constexpr Duration joined_after = 30s;  // the last one
constexpr Duration repaired_after = 180s;
constexpr Duration load_round = 60s;
constexpr int quiet_rounds = 2;
constexpr int load_rounds_max = 30;

// Nobody waits for a single answer: who is missing in the end is in no tree.
void ignore(boost::system::error_code) {}

void join_all(Simulation& simulation, const std::vector<ScribeGroup>& groups,
              const Progress& progress) {
  std::size_t total = 0;
  for (const ScribeGroup& group : groups) total += group.members.size();
  const MonoTime start = simulation.now();
  std::size_t joined = 0;
  for (const ScribeGroup& group : groups) {
    for (const NodeIndex member : group.members) {
      const double share = static_cast<double>(joined++) / static_cast<double>(total);
      progress("joining", share);
      simulation.run_until(start + Duration(static_cast<std::int64_t>(
                                       share * static_cast<double>(joining_time.count()))));
      auto& scribe = simulation.peer(member).scribe();
      scribe.join(group.name, ignore);
      scribe.flush();
    }
  }
}

}  // namespace

void pass_time(Simulation& simulation, Duration time, std::string_view doing,
               const Progress& progress) {
  constexpr int steps = 100;
  for (int step = 0; step < steps; ++step) {
    progress(doing, static_cast<double>(step) / steps);
    simulation.run_for(time / steps);
  }
}

std::vector<Id> join_groups(Simulation& simulation, const std::vector<ScribeGroup>& groups,
                            const Progress& progress) {
  const RingOrder ring = running_nodes(simulation);
  std::vector<Id> ids;
  progress("creating", 0);
  for (const ScribeGroup& group : groups) {
    ids.push_back(scribe::group_id(group.name, simulation.overlay_config().pastry.id_bits));
    auto& scribe = simulation.peer(ring.closest(ids.back())).scribe();
    scribe.create(group.name, wire::GroupMode::best_effort, ignore);
    scribe.flush();
  }
  simulation.run_for(created_after);
  join_all(simulation, groups, progress);
  pass_time(simulation, joined_after, "settling", progress);
  return ids;
}

void settle_loads(Simulation& simulation, const Progress& progress) {
  const scribe::Config& config = simulation.overlay_config().scribe;
  if (config.children_entries_max == 0 && !config.path_collapse) return;
  int quiet = 0;
  for (int round = 0; round < load_rounds_max && quiet < quiet_rounds; ++round) {
    const std::uint64_t before = relocations(simulation);
    pass_time(simulation, load_round, "moving children", progress);
    quiet = relocations(simulation) == before ? quiet + 1 : 0;
  }
}

std::uint64_t relocations(const Simulation& simulation) {
  std::uint64_t sum = 0;
  for (NodeIndex node = 0; node < simulation.size(); ++node) {
    if (!simulation.stopped(node)) sum += simulation.peer(node).scribe().counters().relocations;
  }
  return sum;
}

void fail_nodes(Simulation& simulation, const std::vector<NodeIndex>& nodes,
                const Progress& progress) {
  for (const NodeIndex node : nodes) simulation.crash(node);
  pass_time(simulation, repaired_after, "repairing", progress);
}

std::uint64_t join_messages(const Simulation& simulation) {
  std::uint64_t joins = 0;  // routed and direct ones have a line each
  for (const auto& [type, sent] : simulation.traffic()) {
    if (type == "GroupJoin") joins += sent.messages;
  }
  return joins;
}

GroupTrees trees_of(const Simulation& simulation, const RingOrder& ring,
                    const std::vector<Id>& groups) {
  GroupTrees trees;
  std::vector<std::size_t> tree_of(simulation.size(), groups.size());  // the last that has the node
  for (std::size_t tree = 0; tree < groups.size(); ++tree) {
    const auto root = static_cast<GroupTrees::PlaceIndex>(trees.places.size());
    const auto add = [&](NodeIndex node, GroupTrees::PlaceIndex parent) {
      if (tree_of[node] == tree) return false;
      tree_of[node] = tree;
      trees.places.push_back({node, parent});
      return true;
    };
    trees.begins.push_back(root);
    add(ring.closest(groups[tree]), root);
    for (auto place = root; place < trees.places.size(); ++place) {
      const auto view = simulation.peer(trees.places[place].node).scribe().view(groups[tree]);
      if (!view) continue;
      trees.places[place].member = view->member;
      for (const PeerRef child : view->children) {
        const NodeIndex node = simulation.node_of(child);
        if (!simulation.stopped(node) && add(node, place)) ++trees.places[place].children;
      }
    }
  }
  return trees;
}

}  // namespace canopy::sim
