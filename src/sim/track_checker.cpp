#include "sim/track_checker.hpp"

#include <fmt/format.h>

namespace canopy::sim {

void TrackChecker::joined(const Member& member, const Id& group) {
  const auto [entry, fresh] = members_[group].try_emplace(member, 0);
  if (fresh) entry->second = ++memberships_;
}

void TrackChecker::left(const Member& member, const Id& group) { members_[group].erase(member); }

void TrackChecker::stopped(const Member& member) {
  for (auto& [group, members] : members_) members.erase(member);
}

TrackChecker::Memberships TrackChecker::members(const Id& group) const {
  const auto found = members_.find(group);
  return found == members_.end() ? Memberships{} : found->second;
}

void TrackChecker::answered(const Memberships& before, const Id& group, const wire::MessageId& id,
                            const wire::Reach& reach) {
  const auto find = [&](std::string finding) {
    findings_.push_back(fmt::format("message {} of {} in group {} {}", id.sequence,
                                    id.publisher.to_hex().substr(0, 8), group.to_hex().substr(0, 8),
                                    finding));
  };
  ++answers_;
  const auto& received = received_[id];
  std::size_t reached = 0;
  for (const auto& [member, memberships] : received) reached += memberships.size();
  if (reach.members > reached) {
    find(fmt::format("was said to have reached {} members, and had reached {}", reach.members,
                     reached));
  }
  if (!reach.complete) return;
  ++complete_;
  const Memberships& now = members_[group];
  for (const auto& [member, membership] : before) {
    const auto still = now.find(member);
    if (still == now.end() || still->second != membership || received.contains(member)) continue;
    find(fmt::format("was said to be complete, and node {} had not got it", member.first));
  }
}

}  // namespace canopy::sim
