#include "sim/presence_checker.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace canopy::sim {

namespace {

std::optional<scribe::GroupView> root_of(const Simulation& simulation, const Id& group) {
  const RingOrder ring = running_nodes(simulation);
  for (const auto& [id, node] : ring.members()) {
    auto view = simulation.peer(node).scribe().view(group);
    if (view && view->root) return view;
  }
  return std::nullopt;
}

}  // namespace

void PresenceChecker::told(const Member& member, const Id& group,
                           const scribe::Presence& presence) {
  const auto watch = shown_.find({member, group});
  if (watch != shown_.end()) watch->second = presence.members;
}

void PresenceChecker::stopped(const Member& member, MonoTime now) {
  std::erase_if(shown_, [&](const auto& entry) { return entry.first.first == member; });
  for (auto& [group, lives] : lives_) {
    if (Life* life = life_of(member, group)) {
      life->until = now;
      life->counted_until = now + struck_;
    }
  }
}

// --- Who is a member ---

// The one that goes on.
PresenceChecker::Life* PresenceChecker::life_of(const Member& member, const Id& group) {
  for (Life& life : lives_[group]) {
    if (life.member == member && life.until == never) return &life;
  }
  return nullptr;
}

void PresenceChecker::joined(const Member& member, const Id& group, MonoTime now) {
  Life* life = life_of(member, group);
  if (life && life->since == never) life->since = now;
}

void PresenceChecker::left(const Member& member, const Id& group, MonoTime now) {
  if (Life* life = life_of(member, group)) {
    life->until = now;
    life->counted_until = now + noticed_;
  }
}

Findings PresenceChecker::look(const Simulation& simulation, const Id& group, bool faultless) {
  const MonoTime now = simulation.now();
  std::vector<Life>& lives = lives_[group];
  std::erase_if(lives, [now](const Life& life) { return life.counted_until < now; });
  const auto fewest = std::ranges::count_if(lives, [&](const Life& life) {
    return life.until == never && life.since != never && life.since + noticed_ < now;
  });
  Findings findings;
  const RingOrder ring = running_nodes(simulation);
  for (const auto& [id, node] : ring.members()) {
    const auto view = simulation.peer(node).scribe().view(group);
    if (!view || !view->root || !view->below.complete) continue;
    const std::size_t number = view->below.members;
    if (number > lives.size()) {
      findings.push_back(fmt::format("node {}, a root, is sure of {} members of group {}, of {}",
                                     node, number, group.to_hex().substr(0, 8), lives.size()));
    } else if (faultless && number < static_cast<std::size_t>(fewest)) {
      findings.push_back(
          fmt::format("node {}, a root, is sure of only {} members of group {}, of {}", node,
                      number, group.to_hex().substr(0, 8), fewest));
    }
  }
  return findings;
}

// --- What they are told ---

Findings PresenceChecker::judge(const Simulation& simulation, const Id& group,
                                std::size_t members) const {
  Findings findings;
  const auto find = [&](const std::string& who, std::uint64_t number) {
    findings.push_back(fmt::format("{} takes {} members of group {} for {}", who, members,
                                   group.to_hex().substr(0, 8), number));
  };
  const auto root = root_of(simulation, group);
  if (root && root->below.members != members) find("the root", root->below.members);
  for (const auto& [watch, number] : shown_) {
    if (watch.second != group || number == members) continue;
    find(fmt::format("node {}, which watches them,", watch.first.first), number);
  }
  return findings;
}

Findings PresenceChecker::judge_certainty(const Simulation& simulation, const Id& group) {
  const auto root = root_of(simulation, group);
  if (!root || root->below.complete) return {};
  return {
      fmt::format("the root of group {} is not sure of its members", group.to_hex().substr(0, 8))};
}

}  // namespace canopy::sim
