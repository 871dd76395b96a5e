#include "sim/presence_checker.hpp"

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

void PresenceChecker::stopped(const Member& member) {
  std::erase_if(shown_, [&](const auto& entry) { return entry.first.first == member; });
}

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
