#include "sim/disaster_experiment.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/lookups.hpp"
#include "sim/node_name.hpp"
#include "sim/telling_keys.hpp"

namespace canopy::sim {

namespace {

using namespace std::chrono_literals;

constexpr double joins_per_node = 0.1;   // a second, while the ring grows
constexpr double growing_seconds = 300;  // the rate is not above all nodes in that time
constexpr Duration settling_deadline = 5min;
constexpr double second_side_share = 0.4;
constexpr Duration crowd_time = 1min;
constexpr std::size_t members_wished = 20;
constexpr std::size_t lookups_per_look = 5;
constexpr std::size_t random_keys = 1'000;
constexpr Duration parted_by_default = 10min;
constexpr Duration stuck_by_default = 1h;
constexpr Duration last_message_time = 30s;
constexpr Duration watched_lan = 3min;
constexpr Duration watched_wan = 5min;
constexpr Duration tree_look_interval = 1s;
constexpr std::size_t findings_kept = 20;

}  // namespace

DisasterExperiment::DisasterExperiment(const DisasterOptions& options, Progress progress)
    : options_(options),
      progress_(std::move(progress)),
      random_(options.seed),
      ground_(options.wan ? DisasterGround::internet(random_.fork()) : DisasterGround::room()),
      simulation_(std::make_unique<Simulation>(config(), ground_->topology())),
      storm_(*simulation_),
      lookups_(*simulation_, options.seed + 1,
               [this](const Id& key, NodeIndex origin) { return closest(key, origin); }),
      groups_(*simulation_, options.groups, options.seed + 2),
      step_(options.wan ? 1s : 100ms) {
  if (options_.trace != nullptr) simulation_->trace().write_to(*options_.trace);
  simulation_->observe(storm_);
  simulation_->observe(lookups_);
}

DisasterExperiment::~DisasterExperiment() {
  simulation_->stop_observing(lookups_);
  simulation_->stop_observing(storm_);
}

SimulationConfig DisasterExperiment::config() const {
  SimulationConfig config;
  config.seed = options_.seed;
  config.encode = options_.encode;
  config.refusals = false;
  config.overlay.pastry = options_.wan ? pastry::Config::wan() : pastry::Config::lan();
  config.overlay.scribe = options_.wan ? scribe::Config::wan() : scribe::Config::lan();
  return config;
}

Duration DisasterExperiment::span() const {
  if (options_.span != Duration::zero()) return options_.span;
  return options_.disaster == Disaster::partition ? parted_by_default : stuck_by_default;
}

DisasterResults DisasterExperiment::run() {
  grow();
  make_groups();
  note_memory();
  results_.nodes_before = live().size();
  storm_.begin();
  publishing_ = true;
  pass(1min, "before");
  results_.probes_before = storm_.probes().all;
  results_.messages_before = storm_.messages().all;
  results_.memory_before = std::exchange(results_.memory_during, 0);
  storm_.begin();
  lookups_on_ = true;
  strike();
  watch(options_.wan ? watched_wan : watched_lan);
  results_.probes = storm_.probes();
  results_.messages = storm_.messages();
  publishing_ = false;
  groups_.publish_last();
  pass(last_message_time, "a last message");
  results_.nodes_after = live().size();
  results_.last = groups_.reach();
  results_.lookups = lookups_.judge();
  results_.gaps_told = groups_.gaps_told();
  count_counters();
  if (results_.last.reached != results_.last.members || results_.last.twice != 0) {
    results_.findings.push_back("last messages have not reached each member once");
  }
  for (std::string& finding : groups_.judge_order()) {
    results_.findings.push_back(std::move(finding));
  }
  return std::move(results_);
}

// --- The ring before ---

void DisasterExperiment::add_node() {
  ground_->attach(random_);
  const auto node = static_cast<NodeIndex>(simulation_->size());
  const std::string name = node_name(node);
  simulation_->add_node(name, Id::hash_of(name, simulation_->overlay_config().pastry.id_bits));
  second_side_.push_back(
      (options_.disaster == Disaster::partition || options_.disaster == Disaster::strangers) &&
      random_.chance(second_side_share));
}

// Somebody active, of the ring that the node is to be in; no_node if there is none.
NodeIndex DisasterExperiment::contact_for(NodeIndex node) {
  const bool apart = options_.disaster == Disaster::strangers;
  std::vector<NodeIndex> contacts;
  for (NodeIndex other = 0; other < node; ++other) {
    if (apart && second_side_[other] != second_side_[node]) continue;
    if (simulation_->active(other)) contacts.push_back(other);
  }
  return contacts.empty() ? no_node : contacts[random_.below(contacts.size())];
}

void DisasterExperiment::grow() {
  while (simulation_->size() < options_.nodes) {
    add_node();
    const auto node = static_cast<NodeIndex>(simulation_->size() - 1);
    const NodeIndex contact = contact_for(node);
    if (contact == no_node) {
      simulation_->found(node);
    } else {
      simulation_->join(node, {contact});
    }
    const double rate =
        std::min(std::max(1.0, static_cast<double>(node) * joins_per_node),
                 std::max(1.0, static_cast<double>(options_.nodes) / growing_seconds));
    simulation_->run_for(Duration(static_cast<std::int64_t>(random_.exponential(1e6 / rate))));
    progress_("joining", static_cast<double>(node) / static_cast<double>(options_.nodes));
  }
  settle();
}

// Until all are active and have heard of each other.
void DisasterExperiment::settle() {
  const MonoTime deadline = simulation_->now() + settling_deadline;
  while (live().size() < simulation_->size() && simulation_->now() < deadline) {
    simulation_->run_for(step_);
  }
  pass(2 * simulation_->overlay_config().pastry.heartbeat_interval + 10s, "settling");
}

void DisasterExperiment::make_groups() {
  const auto some_node = [this](bool second) {
    for (;;) {
      const auto node = static_cast<NodeIndex>(random_.below(simulation_->size()));
      const bool apart = options_.disaster == Disaster::strangers;
      if (!apart || second_side_[node] == second) return node;
    }
  };
  while (!groups_.all_created()) {
    const bool second = random_.chance(second_side_share);
    groups_.create(some_node(second));
    simulation_->run_for(options_.wan ? 2s : 200ms);
    std::vector<NodeIndex> nodes;
    for (std::size_t i = 0; i < std::min(members_wished, options_.nodes / 2); ++i) {
      nodes.push_back(some_node(second));
    }
    groups_.join(nodes);
    progress_("joining groups",
              static_cast<double>(groups_.size()) / static_cast<double>(options_.groups));
    simulation_->run_for(options_.wan ? 500ms : 100ms);
  }
  pass(30s, "settling");
}

// --- What happens ---

void DisasterExperiment::strike() {
  switch (options_.disaster) {
    case Disaster::half:
    case Disaster::neighbors:
    case Disaster::zone:
      for (const NodeIndex node : chosen()) simulation_->crash(node);
      return;
    case Disaster::partition: return pass_parted();
    case Disaster::strangers: next_meeting_ = simulation_->now(); return;
    case Disaster::flash_crowd: return join_crowd(options_.nodes, crowd_time);
    case Disaster::calm: return pass(span(), "calm");
    case Disaster::stuck: {
      const NodeIndex node = chosen().front();
      simulation_->hang(node);
      pass(span(), "stuck");
      simulation_->resume(node);
      return;
    }
  }
}

std::vector<NodeIndex> DisasterExperiment::chosen() const {
  Random random(options_.seed + 3);
  const RingOrder ring = live();
  std::vector<NodeIndex> nodes;
  if (options_.disaster == Disaster::neighbors) {
    const std::size_t count = simulation_->overlay_config().pastry.leaf_set_size / 2 - 1;
    const std::size_t first = random.below(ring.size());
    for (std::size_t i = 0; i < std::min(count, ring.size() / 2); ++i) {
      nodes.push_back(ring[(first + i) % ring.size()].node);
    }
    return nodes;
  }
  const std::size_t zone = random.below(DisasterGround::zones);
  for (const auto& member : ring.members()) {
    const bool dies = options_.disaster == Disaster::zone ? ground_->zone(member.node) == zone
                                                          : random.chance(0.5);
    if (dies) nodes.push_back(member.node);
  }
  if (nodes.empty() || options_.disaster == Disaster::stuck) nodes = {ring[0].node};
  return nodes;
}

void DisasterExperiment::pass_parted() {
  std::vector<NodeIndex> second;
  for (NodeIndex node = 0; node < simulation_->size(); ++node) {
    if (second_side_[node]) second.push_back(node);
  }
  parted_ = true;
  const PartitionId cut = simulation_->network().partition(second, Cut::both_ways,
                                                           simulation_->now(), Duration::zero());
  pass(span(), "parted");
  results_.sides_consistent = each_side_whole();
  simulation_->network().heal(cut, simulation_->now());
  parted_ = false;
}

bool DisasterExperiment::each_side_whole() {
  const unsigned id_bits = simulation_->overlay_config().pastry.id_bits;
  bool whole = true;
  for (const bool second : {false, true}) {
    const RingOrder ring = side(second);
    Findings findings = check_leaf_sets(*simulation_, ring);
    for (std::string& finding : check_trees(*simulation_, ring)) {
      findings.push_back(std::move(finding));
    }
    std::vector<Id> keys = telling_keys(ring, id_bits);
    std::sort(keys.begin(), keys.end());
    whole &= findings.empty() && cover_of(*simulation_, ring, keys).exact();
    for (std::string& finding : findings) {
      if (results_.findings.size() == findings_kept) break;
      results_.findings.push_back("while parted: " + finding);
    }
  }
  return whole;
}

void DisasterExperiment::join_crowd(std::size_t nodes, Duration within) {
  const auto members = static_cast<NodeIndex>(simulation_->size());
  for (std::size_t i = 0; i < nodes; ++i) {
    add_node();
    const auto node = static_cast<NodeIndex>(simulation_->size() - 1);
    simulation_->join(node, {static_cast<NodeIndex>(random_.below(members))});
    pass(within / static_cast<std::int64_t>(nodes), "a crowd joins");
  }
}

// As seeds do: a few of the smaller ring know one of the other's, and meet it now and
// then.
void DisasterExperiment::meet_strangers() {
  const pastry::Config& config = simulation_->overlay_config().pastry;
  next_meeting_ = simulation_->now() + config.leaf_maintenance_interval;
  const RingOrder first = side(false);
  const RingOrder second = side(true);
  const NodeIndex node = second[random_.below(second.size())].node;
  auto& peer = simulation_->peer(node);
  peer.pastry().meet(simulation_->ref(first[0].node));
  peer.scribe().flush();
}

// --- Time ---

void DisasterExperiment::pass(Duration time, std::string_view what) {
  const MonoTime start = simulation_->now();
  const MonoTime end = start + time;
  while (simulation_->now() < end) {
    progress_(what, static_cast<double>((simulation_->now() - start).count()) /
                        static_cast<double>(time.count()));
    simulation_->run_until(std::min(end, simulation_->now() + step_));
    tick();
  }
}

void DisasterExperiment::tick() {
  note_memory();
  if (next_meeting_ <= simulation_->now()) meet_strangers();
  if (publishing_) groups_.publish(1);
  if (!lookups_on_) return;
  for (std::size_t i = 0; i < lookups_per_look; ++i) {
    const auto node = static_cast<NodeIndex>(random_.below(simulation_->size()));
    if (simulation_->state(node) == NodeState::running && simulation_->active(node)) {
      lookups_.look_up(node);
    }
  }
}

void DisasterExperiment::note_memory() {
  results_.memory_during = std::max(results_.memory_during, options_.memory());
}

// No more lookups at the end: whoever waits for one is given the time.
void DisasterExperiment::watch(Duration time) {
  const MonoTime start = simulation_->now();
  const MonoTime end = start + time;
  const Duration patience = simulation_->overlay_config().pastry.hop_patience;
  MonoTime leaf_sets = start;
  MonoTime keys = start;
  MonoTime members = start;
  MonoTime trees = start;
  MonoTime next_look_at_trees = start;
  while (simulation_->now() < end) {
    const MonoTime next = std::min(end, simulation_->now() + step_);
    const RingOrder ring = live();
    if (!leaf_sets_exact(ring)) leaf_sets = next;
    if (!keys_served(ring)) keys = next;
    if (simulation_->now() >= next_look_at_trees) {
      next_look_at_trees += tree_look_interval;
      if (!groups_.all_reached(ring)) members = next_look_at_trees;
      Findings wrong = check_trees(*simulation_, ring);
      if (!wrong.empty()) {
        trees = next_look_at_trees;
        results_.trees_before = std::move(wrong.front());
      }
    }
    progress_("watching", static_cast<double>((simulation_->now() - start).count()) /
                              static_cast<double>(time.count()));
    lookups_on_ = next < end - patience;
    simulation_->run_until(next);
    tick();
  }
  const auto since = [&](MonoTime at) {
    return at < end ? std::optional<Duration>(at - start) : std::nullopt;
  };
  results_.leaf_sets = since(leaf_sets);
  results_.keys = since(keys);
  results_.members = since(members);
  results_.trees = since(trees);
  results_.watched = time;
  const SteadyLookups::Outcome outcome = lookups_.judge();
  if (outcome.lost + outcome.incorrect != 0) {
    results_.lookups_bad_until = outcome.last_bad - start;
  }
  Findings findings = check_leaf_sets(*simulation_, live());
  for (std::string& finding : check_trees(*simulation_, live())) {
    findings.push_back(std::move(finding));
  }
  for (std::string& finding : findings) {
    if (results_.findings.size() == findings_kept) break;
    results_.findings.push_back(std::move(finding));
  }
}

// Of those that run, all are active, too.
bool DisasterExperiment::leaf_sets_exact(const RingOrder& ring) const {
  return ring.size() == running_nodes(*simulation_).size() &&
         check_leaf_sets(*simulation_, ring).empty();
}

bool DisasterExperiment::keys_served(const RingOrder& ring) {
  const unsigned id_bits = simulation_->overlay_config().pastry.id_bits;
  std::vector<Id> keys = telling_keys(ring, id_bits);
  Random random(options_.seed + 4);
  for (std::size_t i = 0; i < random_keys; ++i) keys.push_back(random_key(id_bits, random));
  std::sort(keys.begin(), keys.end());
  return cover_of(*simulation_, ring, keys).exact();
}

// --- Who is there ---

RingOrder DisasterExperiment::live() const {
  std::vector<RingOrder::Member> members;
  for (NodeIndex node = 0; node < simulation_->size(); ++node) {
    const bool runs = simulation_->state(node) == NodeState::running;
    if (runs && simulation_->active(node)) members.push_back({simulation_->id(node), node});
  }
  return RingOrder(std::move(members));
}

RingOrder DisasterExperiment::side(bool second) const {
  std::vector<RingOrder::Member> members;
  const RingOrder ring = live();
  for (const RingOrder::Member& member : ring.members()) {
    if (second_side_[member.node] == second) members.push_back(member);
  }
  return RingOrder(std::move(members));
}

NodeIndex DisasterExperiment::closest(const Id& key, NodeIndex origin) const {
  NodeIndex best = no_node;
  for (NodeIndex node = 0; node < simulation_->size(); ++node) {
    if (parted_ && second_side_[node] != second_side_[origin]) continue;
    if (simulation_->state(node) != NodeState::running || !simulation_->active(node)) continue;
    if (best == no_node || closer_to(key, simulation_->id(node), simulation_->id(best))) {
      best = node;
    }
  }
  return best;
}

void DisasterExperiment::count_counters() {
  const RingOrder ring = live();
  for (const RingOrder::Member& member : ring.members()) {
    const auto& peer = simulation_->peer(member.node);
    results_.evictions += peer.pastry().counters().evictions;
    results_.access_conflicts += peer.scribe().counters().access_conflicts;
  }
}

}  // namespace canopy::sim
