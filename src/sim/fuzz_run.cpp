#include "sim/fuzz_run.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <canopy/error.hpp>

#include "sim/fuzz_access.hpp"
#include "sim/fuzz_plan.hpp"
#include "sim/fuzz_requests.hpp"
#include "sim/order_checker.hpp"
#include "sim/plane.hpp"
#include "sim/presence_checker.hpp"
#include "sim/track_checker.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t findings_max = 20;

// The key halfway from a to b, clockwise; both are as close to it if their
// distance is even.
Id midpoint(const Id& a, const Id& b, unsigned id_bits) {
  Id::Bytes half = (b - a).to_bytes();
  unsigned carry = 0;
  for (auto& byte : half) {
    const unsigned value = carry << 8 | byte;
    byte = static_cast<std::uint8_t>(value >> 1);
    carry = value & 1;
  }
  return (a + Id::from_bytes(half)).truncated(id_bits);
}

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

class FuzzRun final : public Observer {
 public:
  explicit FuzzRun(const FuzzOptions& options);

  FuzzOutcome run();

  void sent(NodeIndex from, NodeIndex to, const wire::Message& message) override;
  void activated(NodeIndex node) override;
  void gap(NodeIndex node, const Id& group, const scribe::Missed& missed) override;
  void multicast(NodeIndex node, const wire::Multicast& message) override;
  void detached(NodeIndex node, const Id& group, boost::system::error_code reason) override;
  void presence(NodeIndex node, const Id& group, const scribe::Presence& presence) override;
  std::size_t asked(NodeIndex node, const wire::Multicast& message) override {
    return requests_->asked(node, message);
  }
  bool anycast(NodeIndex node, const wire::Anycast& message) override {
    return requests_->anycast(node, message);
  }

 private:
  using Received = std::pair<NodeIndex, std::uint64_t>;  // node, its incarnation

  void add_nodes();
  wire::GroupName group_name(std::uint32_t group) const;
  Id group_id(std::uint32_t group) const;
  void carry_out(const Act& act);
  void stop(const Act& act);
  RingOrder running() const;
  std::vector<NodeIndex> struck_by(const Act& act) const;
  void come_back(const Act& act);
  void start(const Act& act);
  std::vector<NodeIndex> active_but(NodeIndex node) const;
  void enter(NodeIndex node, NodeIndex wished_contact);
  void hang(NodeIndex node, Duration span);
  void use_group(const Act& act);
  void join_group(NodeIndex node, std::uint32_t group);
  void publish(NodeIndex node, std::uint32_t group);
  void publish_tracked(NodeIndex node, std::uint32_t group, const std::string& text,
                       std::function<void(const scribe::PublishOutcome&)> told);
  void ask_and_judge(const RingOrder& ring, std::uint32_t group, std::size_t members);
  FuzzRequests::Host request_host();
  bool has_two_roots(const Id& group) const;
  void create_groups();
  bool replicas_may_go() const;
  Received process(NodeIndex node) const;
  void fault_links(const Act& act);
  void refresh_link_faults();
  void cut(const Act& act, Cut cut);
  void at(MonoTime time, std::function<void()> what);
  void run_until(MonoTime time);
  void end_faults();
  void settle();
  Findings judge();
  Findings judge_loads();
  std::vector<Id> telling_keys(const RingOrder& ring) const;
  void judge_activation(NodeIndex node);
  std::size_t members_of(const RingOrder& ring, std::uint32_t group) const;
  Findings judge_members(const RingOrder& ring) const;
  void publish_and_judge();
  void judge_last(const std::map<std::uint32_t, wire::MessageId>& published);
  void find(std::string finding);
  std::string hex(NodeIndex node) const;

  FuzzPlan plan_;
  std::unique_ptr<Topology> topology_;
  std::unique_ptr<Simulation> simulation_;
  Random random_;
  std::vector<bool> started_;
  std::vector<std::set<std::uint32_t>> memberships_;              // by node
  std::map<NodeIndex, std::vector<NodeIndex>> stopped_together_;  // by the first of them
  std::multimap<MonoTime, std::function<void()>> later_;
  std::vector<std::pair<MonoTime, LinkFaults>> link_faults_;  // in force until then
  std::map<wire::MessageId, std::map<Received, unsigned>> received_;
  OrderChecker order_;
  TrackChecker track_;
  PresenceChecker presence_;
  Random track_random_;  // of its own: the rest of the run stays as it is
  std::unique_ptr<FuzzAccess> access_;
  std::unique_ptr<FuzzRequests> requests_;
  MonoTime forgetful_until_{};
  Findings findings_;
};

FuzzRun::FuzzRun(const FuzzOptions& options)
    : plan_(options.seed),
      random_(plan_.random.fork()),
      track_random_(options.seed ^ options.seed << 32 ^ 3) {
  topology_ = make_topology(plan_, plan_.random.fork());
  SimulationConfig config;
  config.seed = options.seed;
  config.overlay = plan_.overlay;
  config.encode = options.encode;
  config.refusals = random_.chance(0.5);
  simulation_ = std::make_unique<Simulation>(config, *topology_);
  if (options.trace != nullptr) simulation_->trace().write_to(*options.trace);
  simulation_->observe(*this);
  access_ = std::make_unique<FuzzAccess>(
      options.seed, plan_.groups, plan_.ordered_groups,
      [this](std::uint32_t group) { return group_name(group); }, *simulation_);
  requests_ = std::make_unique<FuzzRequests>(*simulation_, options.seed, request_host());
  started_.resize(plan_.nodes);
  memberships_.resize(plan_.nodes);
}

FuzzOutcome FuzzRun::run() {
  add_nodes();
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
  if (findings_.empty()) {
    for (std::string& finding : access_->judge(running_nodes(*simulation_), replicas_may_go())) {
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
void FuzzRun::add_nodes() {
  std::set<Id> taken;
  for (unsigned number = 0; taken.size() < plan_.nodes; ++number) {
    const std::string name = fmt::format("node-{:03}", number);
    const Id id = Id::hash_of(name + fmt::format("@{}", plan_.seed), plan_.overlay.pastry.id_bits);
    if (!taken.insert(id).second) continue;
    const NodeIndex node = simulation_->add_node(name, id);
    simulation_->crash(node);  // no process until it is started
  }
}

wire::GroupName FuzzRun::group_name(std::uint32_t group) const {
  return {fmt::format("group-{}", group), "fuzz"};
}

Id FuzzRun::group_id(std::uint32_t group) const {
  return scribe::group_id(group_name(group), plan_.overlay.pastry.id_bits);
}

// --- Carrying out ---

void FuzzRun::at(MonoTime time, std::function<void()> what) {
  later_.emplace(time, std::move(what));
}

void FuzzRun::run_until(MonoTime time) {
  while (!later_.empty() && later_.begin()->first <= time) {
    const auto next = later_.extract(later_.begin());
    simulation_->run_until(std::max(simulation_->now(), next.key()));
    next.mapped()();
  }
  simulation_->run_until(time);
}

void FuzzRun::carry_out(const Act& act) {
  const NodeIndex node = act.node;
  switch (act.kind) {
    case ActKind::start: return start(act);
    case ActKind::restart: return come_back(act);
    case ActKind::join_group:
    case ActKind::leave_group:
    case ActKind::publish:
    case ActKind::burst:
    case ActKind::anycast:
    case ActKind::ask_one:
    case ActKind::ask_all: return use_group(act);
    case ActKind::loss:
    case ActKind::duplication:
    case ActKind::reordering:
    case ActKind::delay_tail: return fault_links(act);
    case ActKind::cut_both_ways: return cut(act, Cut::both_ways);
    case ActKind::cut_one_way: return cut(act, random_.chance(0.5) ? Cut::from_side : Cut::to_side);
    case ActKind::clog:
      return simulation_->network().clog(node, act.other, simulation_->now() + act.span);
    case ActKind::clock_jump:
      // What it remembers for a time it forgets too early.
      forgetful_until_ = simulation_->now() + plan_.overlay.scribe.child_expiry;
      return simulation_->jump_clock_ahead(node, act.span);
    case ActKind::clock_drift:
      return simulation_->set_clock_drift(node, static_cast<std::int32_t>(act.amount));
    case ActKind::crash:
    case ActKind::depart:
    case ActKind::hang: return stop(act);
  }
}

void FuzzRun::stop(const Act& act) {
  const std::vector<NodeIndex> struck = struck_by(act);
  if (act.kind != ActKind::hang && !struck.empty()) stopped_together_[act.node] = struck;
  for (const NodeIndex node : struck) {
    if (act.kind == ActKind::hang) {
      hang(node, act.span);
      continue;
    }
    memberships_[node].clear();
    track_.stopped(process(node));
    presence_.stopped(process(node));
    requests_->stopped(node);
    if (act.kind == ActKind::crash) {
      simulation_->crash(node);
    } else {
      simulation_->depart(node);
    }
  }
}

RingOrder FuzzRun::running() const {
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
std::vector<NodeIndex> FuzzRun::struck_by(const Act& act) const {
  const RingOrder ring = running();
  std::size_t first = 0;
  while (first < ring.size() && ring[first].node != act.node) ++first;
  if (first == ring.size()) return {};
  const std::size_t most = std::max<std::size_t>(ring.size() / 2, 1);
  const std::size_t count = std::min<std::size_t>(act.struck, most);
  const std::size_t step = act.apart ? ring.size() / count : 1;
  std::vector<NodeIndex> struck;
  for (std::size_t i = 0; i < count; ++i) {
    struck.push_back(ring[(first + i * step) % ring.size()].node);
  }
  return struck;
}

void FuzzRun::come_back(const Act& act) {
  for (const NodeIndex node : std::exchange(stopped_together_[act.node], {})) {
    if (simulation_->stopped(node)) enter(node, act.other);
  }
}

void FuzzRun::start(const Act& act) {
  started_[act.node] = true;
  if (act.node != 0) return enter(act.node, act.other);
  simulation_->restart(act.node);
  simulation_->found(act.node);
}

std::vector<NodeIndex> FuzzRun::active_but(NodeIndex node) const {
  std::vector<NodeIndex> found;
  for (NodeIndex other = 0; other < plan_.nodes; ++other) {
    if (other != node && simulation_->active(other)) found.push_back(other);
  }
  return found;
}

// Through the wished contact, or whoever is a member of the ring.
void FuzzRun::enter(NodeIndex node, NodeIndex wished_contact) {
  const std::vector<NodeIndex> contacts = active_but(node);
  if (contacts.empty()) return;
  const bool wish_runs =
      wished_contact != node && started_[wished_contact] && !simulation_->stopped(wished_contact);
  simulation_->restart(node);
  std::vector<NodeIndex> chosen{contacts[random_.below(contacts.size())]};
  if (wish_runs) chosen.insert(chosen.begin(), wished_contact);
  simulation_->join(node, chosen);
}

void FuzzRun::hang(NodeIndex node, Duration span) {
  simulation_->hang(node);
  at(std::min(simulation_->now() + span, plan_.healed), [this, node] {
    if (simulation_->state(node) == NodeState::hung) simulation_->resume(node);
  });
}

void FuzzRun::use_group(const Act& act) {
  const NodeIndex node = act.node;
  if (simulation_->state(node) != NodeState::running || !simulation_->active(node)) return;
  scribe::Scribe& scribe = simulation_->peer(node).scribe();
  switch (act.kind) {
    case ActKind::join_group: return join_group(node, act.other);
    case ActKind::leave_group:
      if (memberships_[node].erase(act.other) == 0) return;
      track_.left(process(node), group_id(act.other));
      presence_.ended(process(node), group_id(act.other));
      scribe.leave(group_id(act.other));
      return order_.left(process(node), group_id(act.other));
    case ActKind::burst:
      for (int i = 0; i < static_cast<int>(act.amount); ++i) publish(node, act.other);
      return;
    case ActKind::anycast: return requests_->send_anycast(node, group_name(act.other));
    case ActKind::ask_one:
    case ActKind::ask_all:
      return requests_->ask(node, group_name(act.other), act.kind == ActKind::ask_all,
                            [](const scribe::RequestOutcome&) {});
    default: return publish(node, act.other);
  }
}

void FuzzRun::join_group(NodeIndex node, std::uint32_t group) {
  memberships_[node].insert(group);
  simulation_->peer(node).scribe().join(
      group_name(group),
      [this, node, member = process(node), group](boost::system::error_code error) {
        if (!error) {
          if (PresenceChecker::watches(node, group)) {
            presence_.began(member, group_id(group));
            simulation_->peer(node).scribe().watch(group_id(group), true);
          }
          return track_.joined(member, group_id(group));
        }
        track_.left(member, group_id(group));
        presence_.ended(member, group_id(group));
        order_.left(member, group_id(group));
        // It may have joined again since it left.
        if (error != errc::cancelled) memberships_[node].erase(group);
      },
      access_->key_of(node));
}

void FuzzRun::detached(NodeIndex node, const Id& id, boost::system::error_code) {
  track_.left(process(node), id);
  order_.left(process(node), id);
  std::erase_if(memberships_[node], [&](std::uint32_t group) { return group_id(group) == id; });
  presence_.ended(process(node), id);
}

// A part of all, some of which have little time.
void FuzzRun::publish(NodeIndex node, std::uint32_t group) {
  if (track_random_.chance(0.3)) {
    return publish_tracked(node, group, "news", [](const scribe::PublishOutcome&) {});
  }
  simulation_->peer(node).scribe().publish(group_name(group), wire::AckMode::root,
                                           Buffer::copy_of("news"),
                                           [this](const scribe::PublishOutcome& outcome) {
                                             if (outcome.error) order_.publish_failed(outcome.id);
                                           });
}

void FuzzRun::publish_tracked(NodeIndex node, std::uint32_t group, const std::string& text,
                              std::function<void(const scribe::PublishOutcome&)> told) {
  const Id id = group_id(group);
  const Duration within = track_random_.chance(0.5) ? Duration::zero() : Duration(4s);
  simulation_->peer(node).scribe().publish(
      group_name(group), wire::AckMode::members, Buffer::copy_of(text),
      [this, id, before = track_.members(id), parted = has_two_roots(id),
       told = std::move(told)](const scribe::PublishOutcome& outcome) {
        const bool told_of_all = !parted && !has_two_roots(id);
        if (outcome.error) {
          order_.publish_failed(outcome.id);
        } else if (told_of_all && simulation_->now() >= forgetful_until_) {
          track_.answered(before, id, outcome.id, outcome.reach);
          for (std::string& finding : track_.take_findings()) find(std::move(finding));
        }
        told(outcome);
      },
      within);
}

FuzzRequests::Host FuzzRun::request_host() {
  return {[this](MonoTime time, std::function<void()> what) { at(time, std::move(what)); },
          [this](std::string finding) { find(std::move(finding)); },
          [this](const wire::MessageId& id) { order_.publish_failed(id); }};
}

// Everybody is well, and replies.
void FuzzRun::ask_and_judge(const RingOrder& ring, std::uint32_t group, std::size_t members) {
  requests_->let_all_reply();
  const NodeIndex asker = ring[track_random_.below(ring.size())].node;
  for (const bool to_all : {false, true}) {
    const auto result = std::make_shared<std::optional<scribe::RequestOutcome>>();
    requests_->ask(asker, group_name(group), to_all,
                   [result](const scribe::RequestOutcome& outcome) { *result = outcome; });
    // Whoever has the root's old address sends its message again, after a while.
    for (int second = 0; second < 22 && !*result; ++second) run_until(simulation_->now() + 1s);
    const std::size_t wanted = to_all ? members : std::min<std::size_t>(members, 1);
    const std::size_t came = *result ? (*result)->replies.size() : 0;
    if (came != wanted) {
      find(fmt::format("a request of {} to {} of group {} had {} replies, not {}", hex(asker),
                       to_all ? "all" : "one", group, came, wanted));
    }
  }
}

// While the ring is parted: what is told of one root's tree says nothing of the other's.
bool FuzzRun::has_two_roots(const Id& group) const {
  unsigned roots = 0;
  for (NodeIndex node = 0; node < started_.size(); ++node) {
    if (!started_[node] || simulation_->stopped(node)) continue;
    const auto view = simulation_->peer(node).scribe().view(group);
    if (view && view->root) ++roots;
  }
  return roots > 1;
}

// By the founder, who is alone: nobody can have joined them as unordered ones.
void FuzzRun::create_groups() {
  access_->create(0);
  for (const MonoTime time : access_->times(MonoTime(30s), plan_.healed)) {
    at(time, [this] { access_->change(active_but(plan_.nodes)); });
  }
  for (std::uint32_t group = 0; group < plan_.ordered_groups; ++group) {
    simulation_->peer(0).scribe().create(group_name(group), wire::GroupMode::ordered,
                                         [](boost::system::error_code) {});
  }
}

// A root and all its replicas are struck at once.
bool FuzzRun::replicas_may_go() const {
  return std::ranges::any_of(plan_.acts, [this](const Act& act) {
    const bool stops = act.kind == ActKind::crash || act.kind == ActKind::depart;
    return stops && act.struck >= plan_.overlay.scribe.root_replicas;
  });
}

FuzzRun::Received FuzzRun::process(NodeIndex node) const {
  return {node, simulation_->peers()[simulation_->ref(node)].incarnation};
}

void FuzzRun::fault_links(const Act& act) {
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
void FuzzRun::refresh_link_faults() {
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

void FuzzRun::cut(const Act& act, Cut cut) {
  std::vector<NodeIndex> side{act.node};
  const bool many = random_.chance(0.5);
  for (NodeIndex node = 0; many && node < plan_.nodes; ++node) {
    if (node != act.node && random_.chance(0.4)) side.push_back(node);
  }
  const auto id = simulation_->network().partition(side, cut, simulation_->now(), act.span);
  simulation_->network().heal(id, simulation_->now());
}

void FuzzRun::end_faults() {
  for (auto& [time, what] : std::exchange(later_, {})) what();
  simulation_->network().heal_all(simulation_->now());
  simulation_->network().set_faults({});
  for (NodeIndex node = 0; node < plan_.nodes; ++node) simulation_->set_clock_drift(node, 0);
  // Whoever still joins may know none that lives: as if a seed came back.
  const std::vector<NodeIndex> members = active_but(plan_.nodes);
  for (NodeIndex node = 0; node < plan_.nodes && !members.empty(); ++node) {
    if (simulation_->state(node) == NodeState::running && !simulation_->active(node)) {
      simulation_->add_contact(node, members[random_.below(members.size())]);
    }
  }
}

// --- Judging ---

void FuzzRun::find(std::string finding) {
  if (findings_.size() == findings_max) return;
  const auto seconds = std::chrono::duration<double>(simulation_->now().time_since_epoch()).count();
  findings_.push_back(fmt::format("at {:.3f} s: {}", seconds, finding));
}

std::string FuzzRun::hex(NodeIndex node) const {
  return simulation_->id(node).to_hex(plan_.overlay.pastry.id_bits);
}

void FuzzRun::activated(NodeIndex node) {
  if (simulation_->now() < plan_.calm) judge_activation(node);
}

void FuzzRun::judge_activation(NodeIndex node) {
  std::vector<RingOrder::Member> members;
  for (NodeIndex other = 0; other < plan_.nodes; ++other) {
    if (simulation_->active(other)) members.push_back({simulation_->id(other), other});
  }
  const RingOrder ring(std::move(members));
  if (ring.size() == 1) return;
  const auto knows = [this](NodeIndex a, NodeIndex b) {
    return simulation_->peer(a).pastry().leaf_set().contains(simulation_->ref(b));
  };
  std::size_t position = 0;
  while (ring[position].node != node) ++position;
  for (const std::size_t neighbor : ring.leaves(position, 1)) {
    const NodeIndex other = ring[neighbor].node;
    if (!knows(node, other) || !knows(other, node)) {
      find(fmt::format("{} became active, but it and its neighbour {} do not know each other",
                       hex(node), hex(other)));
    }
    const Id key =
        midpoint(simulation_->id(node), simulation_->id(other), plan_.overlay.pastry.id_bits);
    const auto claims = std::count_if(ring.members().begin(), ring.members().end(),
                                      [&](const RingOrder::Member& member) {
                                        return simulation_->peer(member.node).pastry().is_root(key);
                                      });
    if (claims > 1) {
      find(fmt::format("{} became active, and {} nodes take themselves for the root of {}",
                       hex(node), claims, key.to_hex(plan_.overlay.pastry.id_bits)));
    }
  }
}

void FuzzRun::sent(NodeIndex, NodeIndex, const wire::Message& message) {
  if (const auto* multicast = std::get_if<wire::Multicast>(&message)) order_.seen(*multicast);
}

void FuzzRun::gap(NodeIndex node, const Id& group, const scribe::Missed& missed) {
  order_.gap(process(node), group, missed);
}

void FuzzRun::multicast(NodeIndex node, const wire::Multicast& message) {
  order_.delivered(process(node), message);
  track_.delivered(process(node), message.id);
  const unsigned times = ++received_[message.id][process(node)];
  if (times == 2) find(fmt::format("{} got a multicast twice", hex(node)));
}

void FuzzRun::presence(NodeIndex node, const Id& group, const scribe::Presence& presence) {
  presence_.told(process(node), group, presence);
}

std::vector<Id> FuzzRun::telling_keys(const RingOrder& ring) const {
  std::vector<Id> keys;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    keys.push_back(ring[i].id);
    keys.push_back(
        midpoint(ring[i].id, ring[(i + 1) % ring.size()].id, plan_.overlay.pastry.id_bits));
  }
  for (std::uint32_t group = 0; group < plan_.groups; ++group) keys.push_back(group_id(group));
  return keys;
}

Findings FuzzRun::judge() {
  const RingOrder ring = running_nodes(*simulation_);
  Findings findings = check_encoding(*simulation_);
  if (!findings.empty()) return findings;
  findings = check_leaf_sets(*simulation_, ring);
  if (!findings.empty()) return findings;
  findings = check_roots(*simulation_, ring, telling_keys(ring));
  if (!findings.empty()) return findings;
  findings = check_trees(*simulation_, ring);
  for (const auto& [id, node] : ring.members()) {
    for (const std::uint32_t group : memberships_[node]) {
      const auto view = simulation_->peer(node).scribe().view(group_id(group));
      if (view && view->member && view->attached) continue;
      findings.push_back(fmt::format("{} is not in the tree of {}", hex(node), group));
    }
  }
  return findings.empty() ? judge_members(ring) : findings;
}

std::size_t FuzzRun::members_of(const RingOrder& ring, std::uint32_t group) const {
  return static_cast<std::size_t>(std::ranges::count_if(ring.members(), [&](const auto& member) {
    return memberships_[member.node].contains(group);
  }));
}

Findings FuzzRun::judge_members(const RingOrder& ring) const {
  Findings findings;
  for (std::uint32_t group = 0; group < plan_.groups; ++group) {
    for (std::string& finding :
         presence_.judge(*simulation_, group_id(group), members_of(ring, group))) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

// Of trees that are sound. A child may be on its way just now, and one that moves
// can make its new parent move another: they are given a while. A node that nobody
// could relieve looks again after more than two minutes at most.
Findings FuzzRun::judge_loads() {
  const auto look = [this] {
    const RingOrder ring = running_nodes(*simulation_);
    Findings findings = check_degrees(*simulation_, ring);
    if (findings.empty()) findings = check_paths(*simulation_, ring);
    for (std::uint32_t group = 0; findings.empty() && group < plan_.groups; ++group) {
      findings = PresenceChecker::judge_certainty(*simulation_, group_id(group));
    }
    return findings;
  };
  const MonoTime until = simulation_->now() + 4min;
  Findings findings = look();
  while (!findings.empty() && simulation_->now() < until) {
    run_until(simulation_->now() + 10s);
    findings = look();
  }
  return findings;
}

// Time to mend ends early when all is well; but soft state must hold, too, so
// that what is well now is looked at again at the end.
void FuzzRun::settle() {
  Findings findings = judge();
  while (!findings.empty() && simulation_->now() < plan_.end) {
    run_until(simulation_->now() + 10s);
    findings = judge();
  }
  if (findings.empty()) {
    run_until(std::max(plan_.end, simulation_->now()));
    findings = judge();
    if (!findings.empty()) {  // a child may be on its way to another parent just now
      run_until(simulation_->now() + 2s);
      findings = judge();
    }
  }
  if (findings.empty()) findings = judge_loads();
  for (std::string& finding : findings) find(std::move(finding));
}

void FuzzRun::publish_and_judge() {
  received_.clear();
  const RingOrder ring = running_nodes(*simulation_);
  std::map<std::uint32_t, wire::MessageId> published;
  for (std::uint32_t group = 0; group < plan_.groups; ++group) {
    const NodeIndex publisher = ring[random_.below(ring.size())].node;
    const auto result = std::make_shared<wire::Reach>();
    publish_tracked(publisher, group, "last news",
                    [&published, group, result](const scribe::PublishOutcome& told) {
                      *result = told.reach;
                      if (!told.error) published[group] = told.id;
                    });
    run_until(simulation_->now() + 10s);
    std::size_t reached = 0;
    for (const auto& [id, receivers] : received_) reached += receivers.size();
    const std::size_t members = members_of(ring, group);
    if (reached != members) {
      find(fmt::format("a message to group {} from {} reached {} of {} members", group,
                       hex(publisher), reached, members));
    }
    const bool unknown = members == 0;  // a group that nobody has joined may be
    if (!unknown && (!result->complete || result->members != members)) {
      find(fmt::format("a message to group {} from {} was said to have reached {} of {} members{}",
                       group, hex(publisher), result->members, members,
                       result->complete ? "" : ", not all"));
    }
    received_.clear();
    if (plan_.requests) ask_and_judge(ring, group, members);
    received_.clear();
  }
  judge_last(published);
}

// A root dies: still who joins can have what was published last.
void FuzzRun::judge_last(const std::map<std::uint32_t, wire::MessageId>& published) {
  const Id killed = group_id(static_cast<std::uint32_t>(track_random_.below(plan_.groups)));
  const RingOrder before = running_nodes(*simulation_);
  for (const auto& [id, node] : before.members()) {
    const auto view = simulation_->peer(node).scribe().view(killed);
    if (!view || !view->root) continue;
    memberships_[node].clear();
    presence_.stopped(process(node));
    simulation_->crash(node);
  }
  run_until(simulation_->now() + 3min);
  const RingOrder ring = running_nodes(*simulation_);
  for (const auto& [group, id] : published) {
    const auto newcomer = std::ranges::find_if(ring.members(), [&](const auto& member) {
      return !memberships_[member.node].contains(group);
    });
    if (newcomer == ring.members().end() || members_of(ring, group) == 0) continue;
    const NodeIndex node = newcomer->node;
    join_group(node, group);
    run_until(simulation_->now() + 30s);
    if (!memberships_[node].contains(group)) continue;  // the group is closed to it
    const auto found = std::make_shared<std::optional<wire::Multicast>>();
    simulation_->peer(node).scribe().last(
        group_id(group), [found](const std::optional<wire::Multicast>& last) { *found = last; });
    run_until(simulation_->now() + 10s);
    // A request to all was published after it.
    if (!*found || ((**found).id != id && !plan_.requests)) {
      find(fmt::format("{} cannot have the last message of group {}", hex(node), group));
    }
  }
}

}  // namespace

FuzzOutcome run_fuzz(const FuzzOptions& options) { return FuzzRun(options).run(); }

}  // namespace canopy::sim
