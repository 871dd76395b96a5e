#include "sim/fuzz_run.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <canopy/error.hpp>

#include "sim/fuzz_runner.hpp"
#include "sim/plane.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {

using namespace std::chrono_literals;

namespace {

constexpr int leases_to_meet_again = 10;  // what was cut apart
constexpr Duration lookup_interval = 2s;

std::unique_ptr<Topology> make_topology(const FuzzPlan& plan, Random random) {
  if (plan.wan) {
    auto internet = std::make_unique<TransitStub>(random.fork());
    for (std::uint32_t node = 0; node < plan.nodes; ++node) internet->attach(random);
    return internet;
  }
  auto plane = std::make_unique<Plane>();
  for (std::uint32_t node = 0; node < plan.nodes; ++node) {
    plane->attach({random.unit() * 100, random.unit() * 100});
  }
  return plane;
}

}  // namespace

FuzzRunner::FuzzRunner(const FuzzOptions& options)
    : plan_(options.seed, options.hard),
      random_(plan_.random.fork()),
      presence_(20 * plan_.overlay.scribe.heartbeat_interval,
                20 * plan_.overlay.scribe.heartbeat_interval + plan_.overlay.scribe.child_expiry),
      track_random_(options.seed ^ options.seed << 32 ^ 3) {
  topology_ = make_topology(plan_, plan_.random.fork());
  SimulationConfig config;
  config.seed = options.seed;
  config.overlay = plan_.overlay;
  config.encode = options.encode;
  config.refusals = random_.chance(0.5);
  config.disks = plan_.disks;
  simulation_ = std::make_unique<Simulation>(config, *topology_);
  if (options.trace != nullptr) simulation_->trace().write_to(*options.trace);
  simulation_->observe(*this);
  access_ = std::make_unique<FuzzAccess>(
      options.seed, plan_.groups, plan_.ordered_groups,
      [this](std::uint32_t group) { return group_name(group); }, *simulation_);
  requests_ = std::make_unique<FuzzRequests>(*simulation_, options.seed, request_host());
  lookups_ = std::make_unique<FuzzLookups>(
      *simulation_, options.seed, [this](std::string finding) { find(std::move(finding)); });
  evictions_ = std::make_unique<EvictionChecker>(*simulation_);
  replicas_may_go_ = replicas_may_go();
  started_.resize(plan_.nodes);
  memberships_.resize(plan_.nodes);
}

FuzzOutcome FuzzRunner::run() {
  add_nodes();
  at(MonoTime(lookup_interval), [this] { look_up(); });
  look_at_members();
  if (plan_.hard) look_at_ring();
  bool created = false;
  for (const Act& act : plan_.acts) {
    run_until(act.at);
    carry_out(act);
    if (!std::exchange(created, true)) create_groups();
  }
  run_until(plan_.healed);
  end_faults();
  settle();
  if (findings_.empty()) publish_and_judge();
  members_known_ = false;  // others join from now on
  if (findings_.empty()) {
    for (std::string& finding : access_->judge(running_nodes(*simulation_), lists_may_go())) {
      find(std::move(finding));
    }
  }
  for (std::string& finding : order_.judge()) find(std::move(finding));
  if (plan_.requests) run_until(simulation_->now() + FuzzRequests::time_max);
  requests_->judge_end();
  return {findings_,
          simulation_->trace().hash(),
          simulation_->events(),
          simulation_->now().time_since_epoch(),
          order_.deliveries(),
          order_.gaps(),
          track_.answers(),
          track_.complete(),
          requests_->checker().taken(),
          requests_->checker().replies()};
}

// Ids may collide in a short id space: the colliding name is passed over.
void FuzzRunner::add_nodes() {
  std::set<Id> taken;
  for (unsigned number = 0; taken.size() < plan_.nodes; ++number) {
    const std::string name = fmt::format("node-{:03}", number);
    const Id id = Id::hash_of(name + fmt::format("@{}", plan_.seed), plan_.overlay.pastry.id_bits);
    if (!taken.insert(id).second) continue;
    const NodeIndex node = simulation_->add_node(name, id);
    simulation_->crash(node);  // no process until it is started
  }
}

wire::GroupName FuzzRunner::group_name(std::uint32_t group) const {
  return {fmt::format("group-{}", group), "fuzz"};
}

Id FuzzRunner::group_id(std::uint32_t group) const {
  return scribe::group_id(group_name(group), plan_.overlay.pastry.id_bits);
}

// --- Carrying out ---

void FuzzRunner::at(MonoTime time, std::function<void()> what) {
  later_.emplace(time, std::move(what));
}

void FuzzRunner::run_until(MonoTime time) {
  while (!later_.empty() && later_.begin()->first <= time) {
    const auto next = later_.extract(later_.begin());
    simulation_->run_until(std::max(simulation_->now(), next.key()));
    next.mapped()();
  }
  simulation_->run_until(time);
}

void FuzzRunner::carry_out(const Act& act) {
  const NodeIndex node = act.kind < first_fault ? act.node : aim(act);
  note_strike(act.kind, node);
  // To whoever hangs words come late.
  const bool loses = act.kind == ActKind::loss || act.kind == ActKind::clog ||
                     act.kind == ActKind::hang || act.kind == ActKind::cut_both_ways ||
                     act.kind == ActKind::cut_one_way || act.kind == ActKind::cut_link;
  if (loses) {
    const scribe::Config& scribe = plan_.overlay.scribe;
    // Whoever hung for long waits for its children anew.
    const bool waits_anew = plan_.hard && act.kind == ActKind::hang;
    const Duration noticed =
        20 * scribe.heartbeat_interval + (waits_anew ? scribe.child_expiry : Duration(0));
    lossy_until_ = std::max(lossy_until_, simulation_->now() + act.span + noticed);
  }
  switch (act.kind) {
    case ActKind::start: return start(act);
    case ActKind::restart: return come_back(act);
    case ActKind::join_group:
    case ActKind::leave_group:
    case ActKind::publish:
    case ActKind::burst:
    case ActKind::stream:
    case ActKind::anycast:
    case ActKind::ask_one:
    case ActKind::ask_all: return use_group(act);
    case ActKind::change_list: return access_->change(active_but(no_node));
    case ActKind::loss:
    case ActKind::duplication:
    case ActKind::reordering:
    case ActKind::delay_tail: return fault_links(act);
    case ActKind::cut_both_ways: return cut(act, Cut::both_ways);
    case ActKind::cut_one_way: return cut(act, random_.chance(0.5) ? Cut::from_side : Cut::to_side);
    case ActKind::cut_link: return cut_link(act);
    case ActKind::clog:
      return simulation_->network().clog(act.other == act.node ? no_node : act.other, node,
                                         simulation_->now() + act.span);
    case ActKind::clock_jump:
      // What it remembers for a time it forgets too early; in ordered groups, what it has had.
      order_.forgets(process(node));
      forgetful_until_ = simulation_->now() + plan_.overlay.scribe.child_expiry;
      lookups_->pardon_until(simulation_->now() + 2 * plan_.overlay.pastry.lease);
      return simulation_->jump_clock_ahead(node, act.span);
    case ActKind::clock_drift:
      return simulation_->set_clock_drift(node, static_cast<std::int32_t>(act.amount));
    case ActKind::crash:
    case ActKind::depart:
    case ActKind::hang: return stop(act);
  }
}

void FuzzRunner::stop(const Act& act) {
  for (const NodeIndex node : struck_by(act)) {
    if (act.kind == ActKind::hang) {
      hang(node, act.span);
      continue;
    }
    stopped_by_[act.node].push_back(node);
    memberships_[node].clear();
    track_.stopped(process(node));
    presence_.stopped(process(node), simulation_->now());
    requests_->stopped(node);
    if (act.kind == ActKind::crash) {
      simulation_->crash(node);
    } else {
      simulation_->depart(node);
    }
  }
}

// Whom a fault concerns in the first place. Whoever comes next, if that one does not
// run: so that there is one whom it strikes.
NodeIndex FuzzRunner::aim(const Act& act) const {
  for (NodeIndex node = 0; act.at_root && node < plan_.nodes; ++node) {
    if (simulation_->state(node) != NodeState::running) continue;
    const auto view = simulation_->peer(node).scribe().view(group_id(act.other));
    if (view && view->root) return node;
  }
  for (NodeIndex i = 0; i < plan_.nodes; ++i) {
    const NodeIndex node = (act.node + i) % plan_.nodes;
    if (simulation_->state(node) == NodeState::running) return node;
  }
  return act.node;
}

void FuzzRunner::note_strike(ActKind kind, NodeIndex node) {
  const bool of_all_schedules = kind >= first_fault && static_cast<std::size_t>(kind) < act_kinds;
  if (!of_all_schedules || kind == ActKind::restart) return;
  if (simulation_->state(node) == NodeState::running) kinds_struck_.insert(kind);
}

RingOrder FuzzRunner::running() const {
  std::vector<RingOrder::Member> members;
  for (NodeIndex node = 0; node < plan_.nodes; ++node) {
    if (simulation_->state(node) == NodeState::running) {
      members.push_back({simulation_->id(node), node});
    }
  }
  return RingOrder(std::move(members));
}

// Of the nodes that run, the one of the act and those next to it on the ring; or
// that one and others all around the ring, with one that runs on between any two.
std::vector<NodeIndex> FuzzRunner::struck_by(const Act& act) const {
  const RingOrder ring = running();
  const NodeIndex node = aim(act);
  std::size_t first = 0;
  while (first < ring.size() && ring[first].node != node) ++first;
  if (first == ring.size()) return {};
  const std::size_t most = std::max<std::size_t>(ring.size() / 2, 1);
  const std::size_t count = std::min<std::size_t>(act.struck, most);
  const std::size_t step = act.apart ? ring.size() / count : 1;
  if (act.at_root) first += ring.size() - count / 2;  // and those on both sides of it
  std::vector<NodeIndex> struck;
  for (std::size_t i = 0; i < count; ++i) {
    struck.push_back(ring[(first + i * step) % ring.size()].node);
  }
  return struck;
}

void FuzzRunner::come_back(const Act& act) {
  for (const NodeIndex node : std::exchange(stopped_by_[act.node], {})) {
    if (!simulation_->stopped(node)) continue;
    enter(node, act.other);
    if (!simulation_->stopped(node)) kinds_struck_.insert(ActKind::restart);
  }
}

void FuzzRunner::start(const Act& act) {
  started_[act.node] = true;
  if (act.node != 0) return enter(act.node, act.other);
  simulation_->restart(act.node);
  simulation_->found(act.node);
}

std::vector<NodeIndex> FuzzRunner::active_but(NodeIndex node) const {
  std::vector<NodeIndex> found;
  for (NodeIndex other = 0; other < plan_.nodes; ++other) {
    if (other != node && simulation_->active(other)) found.push_back(other);
  }
  return found;
}

// Through the wished contact, or whoever is a member of the ring.
void FuzzRunner::enter(NodeIndex node, NodeIndex wished_contact) {
  const std::vector<NodeIndex> contacts = active_but(node);
  if (contacts.empty()) return;
  const bool wish_runs =
      wished_contact != node && started_[wished_contact] && !simulation_->stopped(wished_contact);
  simulation_->restart(node);
  std::vector<NodeIndex> chosen{contacts[random_.below(contacts.size())]};
  if (wish_runs) chosen.insert(chosen.begin(), wished_contact);
  simulation_->join(node, chosen);
}

void FuzzRunner::hang(NodeIndex node, Duration span) {
  simulation_->hang(node);
  at(std::min(simulation_->now() + span, plan_.healed), [this, node] {
    if (simulation_->state(node) == NodeState::hung) simulation_->resume(node);
  });
}

void FuzzRunner::use_group(const Act& act) {
  const NodeIndex node = act.node;
  if (simulation_->state(node) != NodeState::running || !simulation_->active(node)) return;
  scribe::Scribe& scribe = simulation_->peer(node).scribe();
  switch (act.kind) {
    case ActKind::join_group: return join_group(node, act.other);
    case ActKind::leave_group:
      if (memberships_[node].erase(act.other) == 0) return;
      track_.left(process(node), group_id(act.other));
      presence_.ended(process(node), group_id(act.other));
      presence_.left(process(node), group_id(act.other), simulation_->now());
      scribe.leave(group_id(act.other));
      return order_.left(process(node), group_id(act.other));
    case ActKind::burst:
      for (int i = 0; i < static_cast<int>(act.amount); ++i) publish(node, act.other);
      return;
    case ActKind::stream: return stream(act);
    case ActKind::anycast: return requests_->send_anycast(node, group_name(act.other));
    case ActKind::ask_one:
    case ActKind::ask_all:
      return requests_->ask(node, group_name(act.other), act.kind == ActKind::ask_all,
                            [](const scribe::RequestOutcome&) {});
    default: return publish(node, act.other);
  }
}

void FuzzRunner::join_group(NodeIndex node, std::uint32_t group) {
  if (memberships_[node].try_emplace(group, ++memberships_begun_).second) {
    presence_.joins(process(node), group_id(group));
  }
  simulation_->peer(node).scribe().join(
      group_name(group),
      [this, node, member = process(node), group](boost::system::error_code error) {
        if (!error) {
          if (PresenceChecker::watches(node, group)) {
            presence_.began(member, group_id(group));
            simulation_->peer(node).scribe().watch(group_id(group), true);
          }
          presence_.joined(member, group_id(group), simulation_->now());
          return track_.joined(member, group_id(group));
        }
        track_.left(member, group_id(group));
        presence_.ended(member, group_id(group));
        order_.left(member, group_id(group));
        // It may have joined again since it left.
        if (error == errc::cancelled) return;
        memberships_[node].erase(group);
        presence_.left(member, group_id(group), simulation_->now());
      },
      access_->key_of(node));
}

void FuzzRunner::detached(NodeIndex node, const Id& id, boost::system::error_code) {
  track_.left(process(node), id);
  order_.left(process(node), id);
  std::erase_if(memberships_[node], [&](const auto& entry) { return group_id(entry.first) == id; });
  presence_.ended(process(node), id);
  presence_.left(process(node), id, simulation_->now());
}

// Two rings, each of which goes on: there may be two of whatever there is one of.
void FuzzRunner::look_at_ring() {
  at(simulation_->now() + 1s, [this] { look_at_ring(); });
  if (ring_is_whole()) return;
  parted_until_ = simulation_->now() + 20 * plan_.overlay.scribe.heartbeat_interval;
  lossy_until_ = std::max(lossy_until_, parted_until_);
  lookups_->pardon_until(simulation_->now() + 2 * plan_.overlay.pastry.lease);
}

bool FuzzRunner::ring_is_whole() const {
  std::vector<RingOrder::Member> members;
  for (const NodeIndex node : active_but(no_node)) members.push_back({simulation_->id(node), node});
  const RingOrder ring(std::move(members));
  for (std::size_t position = 0; position < ring.size(); ++position) {
    const NodeIndex node = ring[position].node;
    for (const std::size_t neighbor : ring.leaves(position, 1)) {
      const PeerRef peer = simulation_->ref(ring[neighbor].node);
      if (!simulation_->peer(node).pastry().leaf_set().contains(peer)) return false;
    }
  }
  return true;
}

void FuzzRunner::look_at_members() {
  if (!members_known_) return;
  at(simulation_->now() + 1s, [this] { look_at_members(); });
  // A word that gets lost is told again after some heartbeats.
  if (simulation_->now() < std::max(forgetful_until_, lossy_until_)) return;
  for (std::uint32_t group = 0; group < plan_.groups; ++group) {
    for (std::string& finding :
         presence_.look(*simulation_, group_id(group), simulation_->now() < plan_.calm)) {
      find(std::move(finding));
    }
  }
}

// One message now, and the others in their time.
void FuzzRunner::stream(const Act& act) {
  publish(act.node, act.other);
  const Duration pause(static_cast<std::int64_t>(1e6 / act.amount));
  if (act.span < pause) return;
  Act rest = act;
  rest.span -= pause;
  at(simulation_->now() + pause, [this, rest] { use_group(rest); });
}

// A part of all, some of which have little time.
void FuzzRunner::publish(NodeIndex node, std::uint32_t group) {
  if (track_random_.chance(0.3)) {
    return publish_tracked(node, group, "news", [](const scribe::PublishOutcome&) {});
  }
  simulation_->peer(node).scribe().publish(group_name(group), wire::AckMode::root,
                                           Buffer::copy_of("news"),
                                           [this, group](const scribe::PublishOutcome& outcome) {
                                             order_.published(group_id(group), outcome);
                                           },
                                           {.key = access_->key_of(node)});
}

void FuzzRunner::publish_tracked(NodeIndex node, std::uint32_t group, const std::string& text,
                                 std::function<void(const scribe::PublishOutcome&)> told) {
  const Id id = group_id(group);
  const Duration within = track_random_.chance(0.5) ? Duration::zero() : Duration(4s);
  simulation_->peer(node).scribe().publish(
      group_name(group), wire::AckMode::members, Buffer::copy_of(text),
      [this, id, before = track_.members(id), parted = has_two_roots(id),
       told = std::move(told)](const scribe::PublishOutcome& outcome) {
        const bool told_of_all =
            !parted && !has_two_roots(id) && simulation_->now() >= parted_until_;
        order_.published(id, outcome);
        if (!outcome.error && told_of_all && simulation_->now() >= forgetful_until_) {
          track_.answered(before, id, outcome.id, outcome.reach);
          for (std::string& finding : track_.take_findings()) find(std::move(finding));
        }
        told(outcome);
      },
      {.within = within, .key = access_->key_of(node)});
}

FuzzRequests::Host FuzzRunner::request_host() {
  return {[this](MonoTime time, std::function<void()> what) { at(time, std::move(what)); },
          [this](std::string finding) { find(std::move(finding)); },
          [this](NodeIndex node) { return access_->key_of(node); }};
}

// While the ring is parted: what is told of one root's tree says nothing of the other's.
bool FuzzRunner::has_two_roots(const Id& group) const {
  unsigned roots = 0;
  for (NodeIndex node = 0; node < started_.size(); ++node) {
    if (!started_[node] || simulation_->stopped(node)) continue;
    const auto view = simulation_->peer(node).scribe().view(group);
    if (view && view->root) ++roots;
  }
  return roots > 1;
}

// By the founder, who is alone: nobody can have joined them as unordered ones.
void FuzzRunner::create_groups() {
  access_->create(0);
  for (const MonoTime time : access_->times(MonoTime(30s), plan_.healed)) {
    at(time, [this] { access_->change(active_but(no_node)); });
  }
  for (std::uint32_t group = 0; group < plan_.ordered_groups; ++group) {
    simulation_->peer(0).scribe().create(group_name(group), wire::GroupMode::ordered,
                                         [](boost::system::error_code) {});
  }
}

void FuzzRunner::look_up() {
  lookups_->look_up(plan_.nodes);
  const MonoTime next = simulation_->now() + lookup_interval;
  if (next < plan_.healed) at(next, [this] { look_up(); });
}

// A root and all its replicas are struck at once.
bool FuzzRunner::strikes_replicas(const Act& act) const {
  const bool stops = act.kind == ActKind::crash || act.kind == ActKind::depart;
  return stops && act.struck >= plan_.overlay.scribe.root_replicas;
}

bool FuzzRunner::replicas_may_go() const {
  return plan_.hard ||
         std::ranges::any_of(plan_.acts, [this](const Act& act) { return strikes_replicas(act); });
}

// And their disks do not come back.
bool FuzzRunner::lists_may_go() const {
  const auto comes_back = [this](const Act& stopped) {
    return std::ranges::any_of(plan_.acts, [&](const Act& act) {
      return act.kind == ActKind::restart && act.node == stopped.node && act.at >= stopped.at;
    });
  };
  return std::ranges::any_of(plan_.acts, [&](const Act& act) {
    return strikes_replicas(act) && !(plan_.disks && comes_back(act));
  });
}

FuzzRunner::Received FuzzRunner::process(NodeIndex node) const {
  return {node, simulation_->peers()[simulation_->ref(node)].incarnation};
}

void FuzzRunner::fault_links(const Act& act) {
  LinkFaults faults;
  switch (act.kind) {
    case ActKind::loss: faults.loss = act.amount; break;
    case ActKind::duplication: faults.duplication = act.amount; break;
    case ActKind::reordering: faults.reordering = act.amount; break;
    default: faults.tail = act.amount; break;
  }
  const MonoTime until = std::min(simulation_->now() + act.span, plan_.healed);
  link_faults_.emplace_back(until, faults);
  refresh_link_faults();
  at(until, [this] { refresh_link_faults(); });
}

// Of several in force, the worst of each kind counts.
void FuzzRunner::refresh_link_faults() {
  std::erase_if(link_faults_, [this](const auto& one) { return one.first <= simulation_->now(); });
  LinkFaults worst;
  for (const auto& [until, one] : link_faults_) {
    worst.loss = std::max(worst.loss, one.loss);
    worst.duplication = std::max(worst.duplication, one.duplication);
    worst.reordering = std::max(worst.reordering, one.reordering);
    worst.tail = std::max(worst.tail, one.tail);
  }
  simulation_->network().set_faults(worst);
}

void FuzzRunner::cut(const Act& act, Cut cut) {
  lookups_->pardon_until(simulation_->now() + act.span +
                         leases_to_meet_again * plan_.overlay.pastry.lease);
  std::vector<NodeIndex> side{aim(act)};
  const bool many = random_.chance(0.5);
  for (NodeIndex node = 0; many && node < plan_.nodes; ++node) {
    if (node != side.front() && random_.chance(0.4)) side.push_back(node);
  }
  const auto id = simulation_->network().partition(side, cut, simulation_->now(), act.span);
  simulation_->network().heal(id, simulation_->now());
}

// No reason for anybody to act for others.
void FuzzRunner::cut_link(const Act& act) {
  const NodeIndex one = aim(act);
  if (simulation_->state(one) != NodeState::running || !simulation_->active(one)) return;
  const PeerRef next = simulation_->peer(one).pastry().leaf_set().right();
  if (!next) return;
  const NodeIndex other = simulation_->node_of(next);
  const MonoTime until = simulation_->now() + act.span;
  const std::uint64_t ways = random_.below(3);
  if (ways != 0) simulation_->network().sever(one, other, until);
  if (ways != 1) simulation_->network().sever(other, one, until);
}

void FuzzRunner::end_faults() {
  for (auto& [time, what] : std::exchange(later_, {})) what();
  constexpr std::size_t kinds = act_kinds - static_cast<std::size_t>(first_fault);
  if (kinds_struck_.size() < kinds) {
    find(fmt::format("of {} kinds of faults only {} struck anybody", kinds, kinds_struck_.size()));
  }
  simulation_->network().heal_all(simulation_->now());
  simulation_->network().set_faults({});
  for (NodeIndex node = 0; node < plan_.nodes; ++node) simulation_->set_clock_drift(node, 0);
  // Whoever still joins, or is alone, may know none that lives: as if a seed came back.
  const std::vector<NodeIndex> members = active_but(no_node);
  for (NodeIndex node = 0; node < plan_.nodes && !members.empty(); ++node) {
    if (simulation_->state(node) != NodeState::running) continue;
    pastry::Pastry& pastry = simulation_->peer(node).pastry();
    if (!simulation_->active(node)) {
      simulation_->add_contact(node, members[random_.below(members.size())]);
    } else if (pastry.leaf_set().empty()) {
      pastry.meet(simulation_->ref(members[random_.below(members.size())]));
    }
  }
}

FuzzOutcome run_fuzz(const FuzzOptions& options) { return FuzzRunner(options).run(); }

}  // namespace canopy::sim
