#include "sim/scenario_runner.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/json_line.hpp"
#include "sim/ideal_tables.hpp"
#include "sim/simulation.hpp"
#include "sim/step_log.hpp"
#include "sim/tree_walk.hpp"

namespace canopy::sim {

namespace {

using namespace std::chrono_literals;

// Far beyond what any step takes: whoever is not done by then never will be.
constexpr Duration step_limit = 1h;

class Runner {
 public:
  Runner(const Scenario& scenario, const ScenarioOptions& options);

  std::string run(const Scenario::Step& step);
  ScenarioResult result() { return {simulation_->trace().hash(), std::move(violations_)}; }

  void build();

 private:
  struct Group {
    wire::GroupName name;
    Id id;
  };
  // An orphan in one tree, in the order in which its parent adopted it.
  using Orphans = std::vector<std::pair<std::string, std::vector<NodeIndex>>>;

  void create(const Scenario::Step& step, JsonLine& line);
  void route(const Scenario::Step& step, JsonLine& line);
  void join(const Scenario::Step& step, JsonLine& line);
  void publish(const Scenario::Step& step, JsonLine& line);
  void leave(const Scenario::Step& step, JsonLine& line);
  void fail(const Scenario::Step& step, JsonLine& line);
  void tree(const Scenario::Step& step, JsonLine& line);

  void build_ideal();
  void build_by_protocol();
  NodeIndex closest_of_first(NodeIndex count, NodeIndex node) const;
  void settle();
  RingOrder live() const;
  std::vector<std::string> trace_route(NodeIndex node, const Id& key);
  Orphans orphans_of(NodeIndex node) const;
  void remove_from_survivors(PeerRef dead);
  JsonLine rejoin(const Orphans& orphans, PeerRef dead);
  NodeIndex root_of(const Id& group) const;

  template <class... Args>
  void violation(fmt::format_string<Args...> format, Args&&... args) {
    violations_.push_back(
        fmt::format("step {}: {}", step_, fmt::format(format, std::forward<Args>(args)...)));
  }

  std::string hex(NodeIndex node) const {
    return scenario_.nodes[node].id.to_hex(scenario_.id_bits);
  }
  std::vector<std::string> hexes(std::vector<NodeIndex> nodes) const;
  std::vector<std::string> ends(const std::vector<Hop>& hops) const;
  double distance(NodeIndex a, NodeIndex b) const {
    return sim::distance(plane_.point(a), plane_.point(b));
  }

  const Scenario& scenario_;
  Plane plane_;
  StepLog log_;
  std::unique_ptr<Simulation> simulation_;
  std::map<std::string, Group> groups_;       // by the name that steps use
  std::vector<std::string> groups_in_order_;  // of creation
  std::uint64_t published_ = 0;
  std::uint32_t nonce_ = 0;
  std::size_t step_ = 0;
  std::vector<std::string> violations_;
};

// Whatever unit a file's coordinates have, its network is one of long, but not
// impossible delays: a join gives up on peers after seconds.
double microseconds_per_unit(const std::vector<Scenario::Node>& nodes) {
  constexpr double longest_delay_us = 150'000;
  Point least = nodes.front().point;
  Point most = least;
  for (const auto& [name, id, point] : nodes) {
    least = {std::min(least.x, point.x), std::min(least.y, point.y)};
    most = {std::max(most.x, point.x), std::max(most.y, point.y)};
  }
  const double span = distance(least, most);
  return span > 0 ? longest_delay_us / span : 1;
}

Runner::Runner(const Scenario& scenario, const ScenarioOptions& options)
    : scenario_(scenario), plane_(microseconds_per_unit(scenario.nodes)) {
  SimulationConfig config;
  config.seed = options.seed;
  config.encode = options.encode;
  config.refusals = false;
  auto& pastry = config.overlay.pastry;
  pastry = pastry::Config::wan();
  pastry.id_bits = scenario.id_bits;
  pastry.b = scenario.b;
  pastry.leaf_set_size = scenario.leaf_set_size;
  pastry.neighborhood_size = scenario.neighborhood_size;
  pastry.maintenance = false;
  config.overlay.scribe = scribe::Config::wan();
  config.overlay.scribe.maintenance = false;
  for (const auto& node : scenario.nodes) plane_.attach(node.point);
  simulation_ = std::make_unique<Simulation>(config, plane_);
  simulation_->observe(log_);
  if (options.trace != nullptr) simulation_->trace().write_to(*options.trace);
}

// --- The network before the first step ---

void Runner::build() {
  if (scenario_.tables == Scenario::Tables::ideal) return build_ideal();
  build_by_protocol();
}

void Runner::build_ideal() {
  for (const auto& node : scenario_.nodes) simulation_->add_node(node.name, node.id);
  const RingOrder ring = live();
  fill_ideal_tables(*simulation_, ring);
  settle();
}

void Runner::build_by_protocol() {
  for (NodeIndex node = 0; node < scenario_.nodes.size(); ++node) {
    simulation_->add_node(scenario_.nodes[node].name, scenario_.nodes[node].id);
    if (node == 0) {
      simulation_->found(node);
    } else {
      simulation_->join(node, {closest_of_first(node, node)});
    }
    const MonoTime limit = simulation_->now() + step_limit;
    while (!simulation_->active(node) && simulation_->step(limit)) {
    }
    if (!simulation_->active(node)) violation("{} did not become active", hex(node));
    settle();
  }
}

// Ties go to the smaller id.
NodeIndex Runner::closest_of_first(NodeIndex count, NodeIndex node) const {
  const auto rank = [&](NodeIndex other) {
    return std::pair(distance(node, other), scenario_.nodes[other].id);
  };
  NodeIndex closest = 0;
  for (NodeIndex other = 1; other < count; ++other) {
    if (rank(other) < rank(closest)) closest = other;
  }
  return closest;
}

void Runner::settle() {
  if (!simulation_->run_until_quiet(simulation_->now() + step_limit)) {
    violation("the network does not become quiet");
  }
}

RingOrder Runner::live() const {
  std::vector<RingOrder::Member> members;
  for (NodeIndex node = 0; node < simulation_->size(); ++node) {
    if (!simulation_->stopped(node)) members.push_back({simulation_->id(node), node});
  }
  return RingOrder(std::move(members));
}

// --- Steps ---

std::string Runner::run(const Scenario::Step& step) {
  ++step_;
  log_.clear();
  JsonLine line;
  line.add("op", name_of(step.op));
  switch (step.op) {
    case Scenario::Op::create: create(step, line); break;
    case Scenario::Op::route: route(step, line); break;
    case Scenario::Op::join: join(step, line); break;
    case Scenario::Op::publish: publish(step, line); break;
    case Scenario::Op::leave: leave(step, line); break;
    case Scenario::Op::fail: fail(step, line); break;
    case Scenario::Op::tree: tree(step, line); break;
  }
  return line.text();
}

// The creator asks for it; if it has failed since, the first that lives.
void Runner::create(const Scenario::Step& step, JsonLine& line) {
  Group group;
  group.name = {step.group, scenario_.nodes[step.node].name};
  group.id = scribe::group_id(group.name, scenario_.id_bits);
  if (groups_.emplace(step.group, group).second) groups_in_order_.push_back(step.group);
  NodeIndex asking = step.node;
  for (NodeIndex node = 0; simulation_->stopped(asking); ++node) asking = node;
  simulation_->peer(asking).scribe().create(group.name, wire::GroupMode::best_effort,
                                            [](boost::system::error_code) {});
  settle();
  const NodeIndex root = log_.creates.empty() ? asking : log_.creates.back().to;
  if (root != live().closest(group.id)) violation("GroupCreate ended at {}", hex(root));
  line.add("group_id", group.id.to_hex(scenario_.id_bits)).add("root", hex(root));
}

void Runner::route(const Scenario::Step& step, JsonLine& line) {
  line.add("route", trace_route(step.node, step.key));
}

std::vector<std::string> Runner::trace_route(NodeIndex node, const Id& key) {
  auto& peer = simulation_->peer(node);
  peer.pastry().route(key, wire::RouteTrace{++nonce_, simulation_->ref(node), {}});
  peer.scribe().flush();
  settle();
  const NodeIndex last = log_.traces.empty() ? node : log_.traces.back().to;
  if (last != live().closest(key)) {
    violation("the route from {} to {} ends at {}", hex(node), key.to_hex(scenario_.id_bits),
              hex(last));
  }
  return ends(log_.traces);
}

void Runner::join(const Scenario::Step& step, JsonLine& line) {
  const Group& group = groups_.at(step.group);
  const auto route = trace_route(step.node, group.id);
  bool joined = false;
  simulation_->peer(step.node).scribe().join(
      group.name, [&joined](boost::system::error_code error) { joined = !error; });
  settle();
  if (!joined) violation("the join of {} did not complete", hex(step.node));
  const NodeIndex stopped_at = log_.joins.empty() ? step.node : log_.joins.back().to;
  line.add("node", hex(step.node))
      .add("route", route)
      .add("joins_sent", std::uint64_t{log_.joins.size()})
      .add("stopped_at", hex(stopped_at));
}

void Runner::publish(const Scenario::Step& step, JsonLine& line) {
  const Group& group = groups_.at(step.group);
  const Buffer body = Buffer::copy_of(fmt::format("message {}", ++published_));
  simulation_->peer(step.node).scribe().publish(group.name, wire::AckMode::none, body,
                                                [](const scribe::PublishOutcome&) {});
  settle();
  const NodeIndex root = log_.publishes.empty() ? step.node : log_.publishes.back().to;
  std::map<NodeIndex, std::uint64_t> copies;
  std::uint64_t most = 0;
  for (const Hop& hop : log_.multicasts) most = std::max(most, ++copies[hop.from]);

  const TreeWalk walk = walk_tree(*simulation_, live(), group.id);
  std::vector<NodeIndex> missed = walk.members;
  std::sort(log_.delivered.begin(), log_.delivered.end());
  if (log_.delivered != missed) violation("not every member got the message exactly once");
  if (root != walk.root) violation("the message went to {} as its root", hex(root));
  line.add("node", hex(step.node))
      .add("route", ends(log_.publishes))
      .add("root_copies", copies[root])
      .add("edges", std::uint64_t{log_.multicasts.size()})
      .add("max_copies", most)
      .add("delivered", hexes(log_.delivered));
}

void Runner::leave(const Scenario::Step& step, JsonLine& line) {
  simulation_->peer(step.node).scribe().leave(groups_.at(step.group).id);
  settle();
  std::vector<std::string> removed;
  for (const Hop& hop : log_.leaves) removed.push_back(hex(hop.from));
  line.add("node", hex(step.node))
      .add("leaves_sent", std::uint64_t{log_.leaves.size()})
      .add("removed", removed);
}

// --- Failure ---

void Runner::fail(const Scenario::Step& step, JsonLine& line) {
  const Orphans orphans = orphans_of(step.node);
  const PeerRef dead = simulation_->ref(step.node);
  simulation_->crash(step.node);
  remove_from_survivors(dead);
  const JsonLine rejoins = rejoin(orphans, dead);
  for (NodeIndex node = 0; node < simulation_->size(); ++node) {
    if (simulation_->stopped(node)) continue;
    simulation_->peer(node).scribe().child_failed(dead);
    settle();
  }
  JsonLine roots;
  for (const auto& name : groups_in_order_) roots.add(name, hex(root_of(groups_.at(name).id)));
  line.add("node", hex(step.node)).add("rejoins", rejoins).add("roots", roots);
}

Runner::Orphans Runner::orphans_of(NodeIndex node) const {
  Orphans orphans;
  for (const auto& name : groups_in_order_) {
    auto& [group, children] = orphans.emplace_back(name, std::vector<NodeIndex>());
    const auto view = simulation_->peer(node).scribe().view(groups_.at(name).id);
    if (!view) continue;
    for (const PeerRef child : view->children) children.push_back(simulation_->node_of(child));
  }
  return orphans;
}

// Everybody forgets it; who had it for a leaf gets the next live node instead.
void Runner::remove_from_survivors(PeerRef dead) {
  const RingOrder ring = live();
  for (std::size_t position = 0; position < ring.size(); ++position) {
    auto& peer = simulation_->peer(ring[position].node);
    peer.pastry().forget(dead);
    teach_leaves(*simulation_, ring, position);
    peer.scribe().flush();
  }
  settle();
}

// Groups in the order of creation, orphans in that of their adoption.
JsonLine Runner::rejoin(const Orphans& orphans, PeerRef dead) {
  JsonLine rejoins;
  for (const auto& [name, children] : orphans) {
    JsonLine by_orphan;
    for (const NodeIndex orphan : children) {
      log_.clear();
      simulation_->peer(orphan).scribe().parent_failed(dead, groups_.at(name).id);
      settle();
      if (!log_.joins.empty()) by_orphan.add(hex(orphan), ends(log_.joins));
    }
    rejoins.add(name, by_orphan);
  }
  return rejoins;
}

// By what the nodes themselves hold for true.
NodeIndex Runner::root_of(const Id& group) const {
  NodeIndex root = no_node;
  const RingOrder ring = live();
  for (const auto& member : ring.members()) {
    if (simulation_->peer(member.node).pastry().is_root(group)) root = member.node;
  }
  return root == no_node ? ring.closest(group) : root;
}

// --- What a tree looks like ---

void Runner::tree(const Scenario::Step& step, JsonLine& line) {
  const TreeWalk walk = walk_tree(*simulation_, live(), groups_.at(step.group).id);
  for (const auto& what : walk.violations) violation("{}", what);
  std::vector<bool> is_member(simulation_->size(), false);
  for (const NodeIndex member : walk.members) is_member[member] = true;

  std::map<std::string, std::vector<std::string>> children;
  std::vector<double> from_root(simulation_->size(), 0);
  std::size_t depth = 0;
  std::uint64_t forwarders = 0;
  double tree_distance = 0;
  double members_distance = 0;
  double unicast_distance = 0;
  for (const auto& place : walk.places) {
    if (place.parent != no_node) {
      const double edge = distance(place.parent, place.node);
      tree_distance += edge;
      from_root[place.node] = from_root[place.parent] + edge;
      children[hex(place.parent)].push_back(hex(place.node));
      if (!is_member[place.node]) ++forwarders;
    }
    depth = std::max(depth, place.depth);
    if (is_member[place.node]) members_distance += from_root[place.node];
  }
  for (const NodeIndex member : walk.members) unicast_distance += distance(walk.root, member);

  JsonLine by_parent;
  for (auto& [parent, list] : children) {
    std::sort(list.begin(), list.end());
    by_parent.add(parent, list);
  }
  // Nothing to compare where the root is the only member, or there is none.
  const double ratio = unicast_distance > 0 ? members_distance / unicast_distance : 0;
  line.add("root", hex(walk.root))
      .add("nodes", std::uint64_t{walk.places.size()})
      .add("members", std::uint64_t{walk.members.size()})
      .add("forwarders", forwarders)
      .add("children", by_parent)
      .add("depth", std::uint64_t{depth})
      .add("tree_distance", tree_distance, 3)
      .add("unicast_distance", unicast_distance, 3)
      .add("delay_ratio", ratio, 4);
}

std::vector<std::string> Runner::hexes(std::vector<NodeIndex> nodes) const {
  std::vector<std::string> texts;
  for (const NodeIndex node : nodes) texts.push_back(hex(node));
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<std::string> Runner::ends(const std::vector<Hop>& hops) const {
  std::vector<std::string> texts;
  for (const Hop& hop : hops) texts.push_back(hex(hop.to));
  return texts;
}

}  // namespace

ScenarioResult run_scenario(const Scenario& scenario, const ScenarioOptions& options,
                            const std::function<void(const std::string&)>& print) {
  Runner runner(scenario, options);
  runner.build();
  for (const auto& step : scenario.steps) print(runner.run(step));
  return runner.result();
}

}  // namespace canopy::sim
