#include "sim/ring_experiment.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "sim/ideal_tables.hpp"
#include "sim/node_name.hpp"

namespace canopy::sim {

namespace {

using namespace std::chrono_literals;

constexpr double joins_per_active_node = 0.1;    // a second, while the ring is small
constexpr double steady_growth_seconds = 300;    // in which the default rate adds all nodes
constexpr Duration activation_deadline = 10min;  // after the last join
constexpr std::size_t lookups_min = 20'000;
constexpr std::uint64_t lookups_per_second = 2'000;
constexpr std::uint64_t lookup_seed = 0x6c6f6f6b757073;

// Keeps the nodes that are active, in the order in which they became so.
class ActiveNodes final : public Observer {
 public:
  void activated(NodeIndex node) override { nodes_.push_back(node); }
  const std::vector<NodeIndex>& nodes() const { return nodes_; }

 private:
  std::vector<NodeIndex> nodes_;
};

}  // namespace

RingExperiment::RingExperiment(const RingOptions& options, Progress progress)
    : options_(options),
      progress_(std::move(progress)),
      random_(options.seed),
      internet_(random_.fork()),
      simulation_(std::make_unique<Simulation>(config(true), internet_)) {
  for (NodeIndex node = 0; node < options_.nodes; ++node) internet_.attach(random_);
  if (options_.trace != nullptr) simulation_->trace().write_to(*options_.trace);
}

SimulationConfig RingExperiment::config(bool maintenance) const {
  SimulationConfig config;
  config.seed = options_.seed;
  config.encode = options_.encode;
  config.refusals = options_.refusals;
  config.overlay.pastry = pastry::Config::wan();
  config.overlay.scribe = options_.scribe;
  config.overlay.pastry.maintenance = maintenance;
  config.overlay.scribe.maintenance = maintenance;
  return config;
}

void RingExperiment::add_node(Simulation& simulation, NodeIndex node) const {
  const std::string name = node_name(node);
  simulation.add_node(name, Id::hash_of(name, simulation.overlay_config().pastry.id_bits),
                      options_.zones == 0 ? "" : "zone-" + std::to_string(zone_of(node)));
}

// With as many zones as there are transit domains, a node's is its transit domain.
std::size_t RingExperiment::zone_of(NodeIndex node) const {
  return internet_.router(node) * options_.zones / TransitStub::stub_routers;
}

NodeIndex RingExperiment::add_node() {
  const HostIndex host = internet_.attach(random_);
  add_node(*simulation_, host);
  return host;
}

RingGrowth RingExperiment::grow() {
  const double steady_rate = options_.join_rate > 0
                                 ? options_.join_rate
                                 : static_cast<double>(options_.nodes) / steady_growth_seconds;
  ActiveNodes active;
  simulation_->observe(active);
  for (NodeIndex node = 0; node < options_.nodes; ++node) {
    add_node(*simulation_, node);
    if (node == 0) {
      simulation_->found(node);
    } else {
      const auto& contacts = active.nodes();
      simulation_->join(node, {contacts[random_.below(contacts.size())]});
    }
    const double rate =
        std::min(steady_rate, joins_per_active_node * static_cast<double>(active.nodes().size()));
    simulation_->run_for(
        Duration(static_cast<std::int64_t>(random_.exponential(1'000'000 / rate))));
    progress_("growing",
              static_cast<double>(active.nodes().size()) / static_cast<double>(options_.nodes));
  }
  const MonoTime deadline = simulation_->now() + activation_deadline;
  while (active.nodes().size() < options_.nodes && simulation_->step(deadline)) {
  }

  RingGrowth growth;
  growth.active = active.nodes().size();
  growth.messages = simulation_->traffic();
  std::uint64_t messages = 0;
  for (const auto& [type, sent] : growth.messages) {
    if (type != "Heartbeat") messages += sent.messages;
  }
  growth.messages_per_join = static_cast<double>(messages) / static_cast<double>(options_.nodes);
  progress_("settling", 0);
  simulation_->run_for(2 * simulation_->overlay_config().pastry.heartbeat_interval);
  simulation_->stop_observing(active);
  return growth;
}

Findings RingExperiment::check() const {
  return check_leaf_sets(*simulation_, running_nodes(*simulation_));
}

std::vector<Lookup> RingExperiment::lookups() const {
  return random_lookups(std::max(lookups_min, options_.nodes), options_.nodes,
                        simulation_->overlay_config().pastry.id_bits,
                        Random(options_.seed ^ lookup_seed));
}

LookupResults RingExperiment::look_up() {
  progress_("looking up", 0);
  return run_lookups(*simulation_, running_nodes(*simulation_), lookups(), lookups_per_second);
}

ZoneFigures RingExperiment::zones() const {
  ZoneFigures figures;
  if (options_.zones == 0) return figures;
  const unsigned b = simulation_->overlay_config().pastry.b;
  std::vector<std::set<Id>> ids(options_.zones);
  for (NodeIndex node = 0; node < options_.nodes; ++node) {
    ids[zone_of(node)].insert(simulation_->id(node));
  }
  for (NodeIndex node = 0; node < options_.nodes; ++node) {
    const std::size_t zone = zone_of(node);
    for (const auto& entry : simulation_->peer(node).pastry().routing_table().all()) {
      ++figures.entries;
      // Of the zone's ids, the first with the entry's digits, if there is one.
      const Id& id = simulation_->id(simulation_->node_of(entry.peer));
      const unsigned digits = shared_prefix_length(simulation_->id(node), id, b) + 1;
      Id first = id;
      for (unsigned index = digits; index < Id::bits / b; ++index) {
        first = first.with_digit(index, b, 0);
      }
      const auto found = ids[zone].lower_bound(first);
      if (found == ids[zone].end() || shared_prefix_length(*found, id, b) < digits) continue;
      ++figures.possible;
      figures.own += zone_of(simulation_->node_of(entry.peer)) == zone ? 1 : 0;
    }
  }
  return figures;
}

LookupResults RingExperiment::look_up_ideally() {
  progress_("ideal tables", 0);
  simulation_.reset();
  simulation_ = std::make_unique<Simulation>(config(false), internet_);
  for (NodeIndex node = 0; node < options_.nodes; ++node) add_node(*simulation_, node);
  const RingOrder ring = running_nodes(*simulation_);
  fill_ideal_tables(*simulation_, ring);
  progress_("looking up", 0);
  return run_lookups(*simulation_, ring, lookups(), lookups_per_second);
}

}  // namespace canopy::sim
