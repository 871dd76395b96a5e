// What a fuzz run finds: while it goes on, and once faults have ended.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sim/fuzz_runner.hpp"
#include "sim/telling_keys.hpp"

namespace canopy::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t findings_max = 20;

}  // namespace

void FuzzRunner::find(std::string finding) {
  if (findings_.size() == findings_max) return;
  const auto seconds = std::chrono::duration<double>(simulation_->now().time_since_epoch()).count();
  findings_.push_back(fmt::format("at {:.3f} s: {}", seconds, finding));
}

std::string FuzzRunner::hex(NodeIndex node) const {
  return simulation_->id(node).to_hex(plan_.overlay.pastry.id_bits);
}

void FuzzRunner::activated(NodeIndex node) {
  if (simulation_->now() < plan_.calm) judge_activation(node);
}

void FuzzRunner::judge_activation(NodeIndex node) {
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

void FuzzRunner::sent(NodeIndex from, NodeIndex to, const wire::Message& message) {
  evictions_->sent(from, to, message);
}

void FuzzRunner::said(NodeIndex from, NodeIndex to, const wire::Message& message) {
  for (std::string& finding : evictions_->said(from, to, message)) find(std::move(finding));
  lookups_->said(from, message);
  if (const auto* multicast = std::get_if<wire::Multicast>(&message)) order_.seen(*multicast);
}

std::uint64_t FuzzRunner::membership_of(NodeIndex node, const Id& id) const {
  for (const auto& [group, membership] : memberships_[node]) {
    if (group_id(group) == id) return membership;
  }
  return 0;
}

void FuzzRunner::gap(NodeIndex node, const Id& group, const scribe::Missed& missed) {
  order_.gap(process(node), group, missed);
}

void FuzzRunner::multicast(NodeIndex node, const wire::Multicast& message) {
  if (plan_.hard) note_order(node, message);
  order_.delivered(process(node), message);
  const std::uint64_t membership = membership_of(node, message.group);
  track_.delivered(process(node), membership, message.id);
  judge_right(message.group, message.id.publisher);
  access_->delivered(message.id);
  // Whoever has left and come back remembers nothing. Of an ordered group order_ says so.
  const unsigned times = ++received_[message.id][{node, membership}];
  if (times == 2 && message.epoch == 0) find(fmt::format("{} got a multicast twice", hex(node)));
}

// Where all who know that a group is ordered are cut off, it is founded anew, as one that
// is not: what came before is forgotten, and again when they are back. Not of its order, which
// goes on after a gap.
void FuzzRunner::note_order(NodeIndex node, const wire::Multicast& message) {
  for (auto& [group, membership] : memberships_[node]) {
    if (group >= plan_.ordered_groups || group_id(group) != message.group) continue;
    const std::pair<NodeIndex, std::uint32_t> place{node, group};
    const bool changed =
        message.epoch == 0 ? unordered_.insert(place).second : unordered_.erase(place) != 0;
    if (!changed) continue;
    membership = ++memberships_begun_;
  }
}

bool FuzzRunner::anycast(NodeIndex node, const wire::Anycast& message) {
  judge_right(message.group, message.id.publisher);
  if (message.body.view() == FuzzAccess::anycast_text) return true;
  return requests_->anycast(node, message);
}

// Some nodes never have the right to publish to some groups, whose lists never go.
void FuzzRunner::judge_right(const Id& group, const Id& publisher) {
  if (replicas_may_go_) return;
  if (access_->is_mute(group, publisher)) {
    find(fmt::format("a message of {} came, which may not publish",
                     publisher.to_hex(plan_.overlay.pastry.id_bits)));
  }
}

std::optional<NodeIndex> FuzzRunner::some_publisher(const RingOrder& ring, std::uint32_t group,
                                                    Random& random) const {
  std::vector<NodeIndex> allowed;
  for (const auto& [id, node] : ring.members()) {
    if (access_->may_publish(ring, group, node)) allowed.push_back(node);
  }
  if (allowed.empty()) return std::nullopt;
  return allowed[random.below(allowed.size())];
}

void FuzzRunner::presence(NodeIndex node, const Id& group, const scribe::Presence& presence) {
  presence_.told(process(node), group, presence);
}

std::vector<Id> FuzzRunner::telling_keys(const RingOrder& ring) const {
  std::vector<Id> keys = sim::telling_keys(ring, plan_.overlay.pastry.id_bits);
  for (std::uint32_t group = 0; group < plan_.groups; ++group) keys.push_back(group_id(group));
  return keys;
}

Findings FuzzRunner::judge() {
  const RingOrder ring = running_nodes(*simulation_);
  Findings findings = check_encoding(*simulation_);
  if (!findings.empty()) return findings;
  findings = check_leaf_sets(*simulation_, ring);
  if (!findings.empty()) return findings;
  findings = check_roots(*simulation_, ring, telling_keys(ring));
  if (!findings.empty()) return findings;
  for (const auto& [id, node] : ring.members()) {
    if (simulation_->peer(node).pastry().may_act(id)) continue;
    findings.push_back(fmt::format("{} holds no leases to act for its keys", hex(node)));
  }
  if (!findings.empty()) return findings;
  findings = check_trees(*simulation_, ring);
  for (const auto& [id, node] : ring.members()) {
    for (const auto& [group, membership] : memberships_[node]) {
      const auto view = simulation_->peer(node).scribe().view(group_id(group));
      if (view && view->member && view->attached) continue;
      findings.push_back(fmt::format("{} is not in the tree of {}", hex(node), group));
    }
  }
  return findings.empty() ? judge_members(ring) : findings;
}

std::size_t FuzzRunner::members_of(const RingOrder& ring, std::uint32_t group) const {
  return static_cast<std::size_t>(std::ranges::count_if(ring.members(), [&](const auto& member) {
    return memberships_[member.node].contains(group);
  }));
}

Findings FuzzRunner::judge_members(const RingOrder& ring) const {
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
// could relieve asks one or two of its children every 2.6 minutes at most.
Findings FuzzRunner::judge_loads() {
  const auto look = [this] {
    const RingOrder ring = running_nodes(*simulation_);
    Findings findings = check_degrees(*simulation_, ring);
    if (findings.empty()) findings = check_paths(*simulation_, ring);
    for (std::uint32_t group = 0; findings.empty() && group < plan_.groups; ++group) {
      findings = PresenceChecker::judge_certainty(*simulation_, group_id(group));
    }
    return findings;
  };
  const MonoTime until = simulation_->now() + 10min;
  Findings findings = look();
  while (!findings.empty() && simulation_->now() < until) {
    run_until(simulation_->now() + 10s);
    findings = look();
  }
  return findings;
}

// Time to mend ends early when all is well; but soft state must hold, too, so
// that what is well now is looked at again at the end.
void FuzzRunner::settle() {
  Findings findings = judge();
  while (!findings.empty() && simulation_->now() < plan_.end) {
    run_until(simulation_->now() + 10s);
    findings = judge();
  }
  if (findings.empty()) {
    run_until(std::max(plan_.end, simulation_->now()));
    findings = judge();
    // A child may be on its way to another parent just now, and others after it; word of
    // each has a way as well, and a root waits some intervals with what it shows.
    for (int times = 0; times < 15 && !findings.empty(); ++times) {
      run_until(simulation_->now() + 2s);
      findings = judge();
    }
  }
  if (findings.empty()) findings = judge_loads();
  for (std::string& finding : findings) find(std::move(finding));
}

void FuzzRunner::publish_and_judge() {
  received_.clear();
  const RingOrder ring = running_nodes(*simulation_);
  std::map<std::uint32_t, wire::MessageId> published;
  for (std::uint32_t group = 0; group < plan_.groups; ++group) {
    const auto chosen = some_publisher(ring, group, random_);
    if (!chosen) continue;
    const NodeIndex publisher = *chosen;
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

// Everybody is well, and replies.
void FuzzRunner::ask_and_judge(const RingOrder& ring, std::uint32_t group, std::size_t members) {
  requests_->let_all_reply();
  const NodeIndex asker = some_publisher(ring, group, track_random_).value();
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

// A root dies: still who joins can have what was published last.
void FuzzRunner::judge_last(const std::map<std::uint32_t, wire::MessageId>& published) {
  const Id killed = group_id(static_cast<std::uint32_t>(track_random_.below(plan_.groups)));
  const RingOrder before = running_nodes(*simulation_);
  for (const auto& [id, node] : before.members()) {
    const auto view = simulation_->peer(node).scribe().view(killed);
    if (!view || !view->root) continue;
    memberships_[node].clear();
    presence_.stopped(process(node), simulation_->now());
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
        group_id(group), [found](boost::system::error_code,
                                 const std::optional<wire::Multicast>& last) { *found = last; });
    run_until(simulation_->now() + 10s);
    // A request to all was published after it.
    if (!*found || ((**found).id != id && !plan_.requests)) {
      find(fmt::format("{} cannot have the last message of group {}", hex(node), group));
    }
  }
}

}  // namespace canopy::sim
