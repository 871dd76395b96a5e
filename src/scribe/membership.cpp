#include "scribe/membership.hpp"

#include <algorithm>

#include "scribe/access.hpp"
#include "scribe/planted_bug.hpp"

namespace canopy::scribe {

MonoTime incomplete_until(const Group& group, MonoTime now) {
  const MonoTime missing = group.lost ? group.lost->missing_until(now) : MonoTime{};
  const bool forgotten = planted_bug == PlantedBug::moves_forgotten;
  const MonoTime until = forgotten ? missing : std::max(missing, group.unsettled_until);
  return until > now ? until : MonoTime{};
}

MemberTally tally_of(const Group& group, MonoTime now) {
  std::uint64_t members = group.member ? 1 : 0;
  bool complete = incomplete_until(group, now) == MonoTime{};
  bool wanted = group.watching;
  for (const Child& child : group.children) {
    members += child.below.members;
    complete = complete && child.below.complete;
    wanted = wanted || child.below.watched;
  }
  const auto told = static_cast<std::uint32_t>(std::min<std::uint64_t>(members, members_max));
  return to_tally({told, complete, group.member, wanted});
}

std::uint64_t edge_hash(const Core& core, const Group& group, const wire::Peers& path) {
  return path_hash(path, core.env.peers()) ^ access_hash(group.list());
}

Edge edge_above(const Core& core, const Group& group, const Id& id, const wire::Peers& root_path) {
  return {id, edge_hash(core, group, root_path), group.told.bits(),
          group.told.watched ? group.shown.bits() : 0};
}

Edge edge_below(const Group& group, const Id& id, const Child& child) {
  return {id, group.told_path_hash, child.below.bits(),
          child.below.watched ? group.shown.bits() : 0};
}

void take_tally(Core& core, const Group& group, const Id& id, Child& child,
                const MemberTally& tally) {
  if (child.below == tally) return;
  const Edge before = edge_below(group, id, child);
  child.below = tally;
  if (child.acknowledged) {
    core.neighbors.change(child.peer, Side::parent_of, before, edge_below(group, id, child));
  }
  core.members_changed(id);
}

void set_told(Core& core, Group& group, const Id& id, const MemberTally& tally) {
  if (group.told == tally) return;
  const Edge before = edge_above(core, group, id, group.root_path());
  group.told = tally;
  if (!group.parent()) return;
  core.neighbors.change(group.parent(), Side::child_of, before,
                        edge_above(core, group, id, group.root_path()));
}

void set_shown(Core& core, Group& group, const Id& id, const ShownMembers& shown) {
  if (group.shown == shown) return;
  const ShownMembers before = group.shown;
  const auto change = [&](PeerRef peer, Side side, Edge edge) {
    Edge old = edge;
    old.shown = before.bits();
    core.neighbors.change(peer, side, old, edge);
  };
  group.shown = shown;
  for (const Child& child : group.children) {
    if (child.acknowledged && child.below.watched) {
      change(child.peer, Side::parent_of, edge_below(group, id, child));
    }
  }
  if (group.parent() && group.told.watched) {
    change(group.parent(), Side::child_of, edge_above(core, group, id, group.root_path()));
  }
}

bool watched(const Group& group) {
  return group.watching || std::ranges::any_of(group.children, [](const Child& child) {
           return child.below.watched == 1;
         });
}

wire::PresenceUpdate presence_of(const Group& group, const Id& id) {
  return {id, group.shown.members, group.shown.complete == 1, {}};
}

}  // namespace canopy::scribe
