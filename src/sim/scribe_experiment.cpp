#include "sim/scribe_experiment.hpp"

#include <utility>
#include <vector>

#include "base/random.hpp"
#include "scribe/group_name.hpp"
#include "sim/bottleneck_remover.hpp"
#include "sim/checkers.hpp"
#include "sim/ideal_trees.hpp"
#include "sim/node_name.hpp"
#include "sim/protocol_trees.hpp"
#include "sim/ring_experiment.hpp"
#include "sim/scribe_groups.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {

namespace {

constexpr std::uint64_t group_seed = 0x67726f757073;
constexpr std::uint64_t failure_seed = 0x6661696c;

// Tables of a ring that has just grown hold many early nodes and few near ones: it lives
// through that much row maintenance before anybody joins a group.
constexpr int maintenance_rounds = 1;

// What both kinds of tables have in common: who is in which group, and who fails.
struct Plan {
  explicit Plan(const ScribeOptions& options);

  std::vector<ScribeGroup> groups;
  std::uint64_t memberships = 0;    // of nodes that do not fail
  std::vector<NodeIndex> failures;  // nodes
  std::vector<bool> fails;          // by node
};

Plan::Plan(const ScribeOptions& options) : fails(options.nodes) {
  const auto count =
      static_cast<std::size_t>(options.failures * static_cast<double>(options.nodes));
  failures = NodeDraw(options.nodes, Random(options.seed ^ failure_seed)).distinct(count);
  for (const NodeIndex node : failures) fails[node] = true;
  const auto sizes = options.group_size == 0
                         ? zipf_sizes(options.nodes, options.groups)
                         : std::vector<std::size_t>(options.groups, options.group_size);
  GroupDraw draw(options.nodes, Random(options.seed ^ group_seed));
  for (const std::size_t size : sizes) {
    groups.push_back(draw.draw(size));
    for (const NodeIndex member : groups.back().members) memberships += fails[member] ? 0 : 1;
  }
}

RingOrder ring_of_those_left(const Plan& plan, unsigned id_bits) {
  std::vector<RingOrder::Member> members;
  for (NodeIndex node = 0; node < plan.fails.size(); ++node) {
    if (!plan.fails[node]) members.push_back({Id::hash_of(node_name(node), id_bits), node});
  }
  return RingOrder(std::move(members));
}

GroupTrees grow_ideal_trees(const Plan& plan, const TransitStub& internet,
                            const Progress& progress) {
  const auto config = pastry::Config::wan();
  progress("ideal tables", 0);
  const RingOrder ring = ring_of_those_left(plan, config.id_bits);
  std::vector<std::uint32_t> position_of(plan.fails.size());
  for (std::uint32_t i = 0; i < ring.size(); ++i) position_of[ring[i].node] = i;
  const IdealRoutes routes(ring, internet, config);
  IdealTrees trees(ring, routes);
  std::vector<std::uint32_t> positions;
  for (const auto& [name, members] : plan.groups) {
    positions.clear();
    for (const NodeIndex member : members) {
      if (!plan.fails[member]) positions.push_back(position_of[member]);
    }
    trees.grow(scribe::group_id(name, config.id_bits), positions);
    progress("joining",
             static_cast<double>(trees.trees().size()) / static_cast<double>(plan.groups.size()));
  }
  return std::move(trees.trees());
}

// Leaves out the values of nodes that have failed.
void leave_out(const std::vector<bool>& failed, std::vector<std::uint32_t>& values) {
  std::size_t kept = 0;
  for (std::size_t node = 0; node < values.size(); ++node) {
    if (!failed[node]) values[kept++] = values[node];
  }
  values.resize(kept);
}

ScribeReport measure(const Plan& plan, const GroupTrees& trees, std::uint64_t joins,
                     std::uint64_t moves, const TransitStub& internet, const Progress& progress) {
  ScribeReport report{joins, moves, 0, ScribeFigures(trees, internet, progress)};
  report.missed = plan.memberships - report.figures.memberships;
  leave_out(plan.fails, report.figures.tables);
  leave_out(plan.fails, report.figures.entries);
  return report;
}

ScribeReport run_ideally(const ScribeOptions& options, const Plan& plan, const Progress& progress) {
  Random random(options.seed);
  TransitStub internet(random.fork());
  for (std::size_t node = 0; node < options.nodes; ++node) internet.attach(random);
  GroupTrees trees = grow_ideal_trees(plan, internet, progress);
  const std::uint64_t edges = trees.places.size() - trees.size();
  if (options.collapse) collapse_paths(trees);
  std::uint64_t moves = 0;
  if (options.children_max > 0) {
    progress("removing bottlenecks", 0);
    moves = remove_bottlenecks(trees, internet, options.children_max);
    if (options.collapse) collapse_paths(trees);
  }
  return measure(plan, trees, edges + moves, moves, internet, progress);
}

ScribeReport run_by_protocol(const ScribeOptions& options, const Plan& plan,
                             const Progress& progress) {
  RingOptions ring_options;
  ring_options.nodes = options.nodes;
  ring_options.seed = options.seed;
  ring_options.scribe.children_entries_max = options.children_max;
  ring_options.scribe.path_collapse = options.collapse;
  RingExperiment ring(ring_options, progress);
  ring.grow();
  Simulation& simulation = ring.simulation();
  pass_time(simulation,
            maintenance_rounds * simulation.overlay_config().pastry.row_maintenance_interval,
            "maintaining tables", progress);
  const std::vector<Id> groups = join_groups(simulation, plan.groups, progress);
  settle_loads(simulation, progress);
  if (!plan.failures.empty()) {
    fail_nodes(simulation, plan.failures, progress);
    settle_loads(simulation, progress);
  }
  const GroupTrees trees = trees_of(simulation, running_nodes(simulation), groups);
  return measure(plan, trees, join_messages(simulation), relocations(simulation), ring.internet(),
                 progress);
}

}  // namespace

ScribeReport run_scribe_experiment(const ScribeOptions& options, const Progress& progress) {
  const Plan plan(options);
  return options.tables == ScribeOptions::Tables::ideal ? run_ideally(options, plan, progress)
                                                        : run_by_protocol(options, plan, progress);
}

}  // namespace canopy::sim
