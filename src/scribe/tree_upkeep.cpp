// The other part of Tree: keeping what JOINs have built while parents, children
// and this node's own role change.
#include <algorithm>

#include <canopy/error.hpp>

#include "base/rare.hpp"
#include "scribe/membership.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

// --- The path from the root ---

void Tree::on_root_path(PeerRef from, const wire::RootPathUpdate& update) {
  Group* group = core_.find(update.group);
  if (!group) return answer_stray(from, update.group);
  const wire::Peers path_before = group->root_path();
  switch (group->on_root_path(from, nearest(update.root_path), core_.self)) {
    case PathVerdict::ignored:
      if (group->judge(from, core_.now()) == SenderVerdict::stray) answer_stray(from, update.group);
      break;
    case PathVerdict::unchanged: break;
    case PathVerdict::changed: path_changed(*group, update.group, path_before); break;
    case PathVerdict::loop:
      send_leave(from, update.group, group->join_nonce(), wire::LeaveReason::orphaned);
      drop_looped_parent(*group, update.group);
      break;
  }
  core_.neighbors.heard_from_parent(from, core_.now());
}

wire::Peers Tree::nearest(const wire::Peers& path) const {
  const std::size_t kept = std::min<std::size_t>(path.size(), core_.config.root_path_max);
  return {path.end() - static_cast<std::ptrdiff_t>(kept), path.end()};
}

wire::Peers Tree::path_below(const Group& group) const {
  return group.path_below(core_.self, core_.config.root_path_max);
}

Edge Tree::edge_above(const Group& group, const Id& id) const {
  return scribe::edge_above(core_, group, id, group.root_path());
}

// The path may have changed since the children were told one: they are told
// before there is another, since the edges to all of them have the same hash.
void Tree::tell_path_if_changed(Group& group, const Id& id) {
  if (group.told_path_hash != edge_hash(core_, group, path_below(group))) {
    tell_children_path(group, id);
  }
}

void Tree::path_changed(Group& group, const Id& id, const wire::Peers& before) {
  core_.neighbors.change(group.parent(), Side::child_of,
                         scribe::edge_above(core_, group, id, before), edge_above(group, id));
  tell_children_path(group, id);
}

void Tree::tell_children_path(Group& group, const Id& id) {
  if (!group.in_tree()) return;
  const wire::Peers path = path_below(group);
  const std::uint64_t before = group.told_path_hash;
  group.told_path_hash = edge_hash(core_, group, path);
  for (const Child& child : group.children) {
    if (!child.acknowledged) continue;
    change_path_hash(group, id, child, before);
    core_.send(child.peer, wire::RootPathUpdate{id, path});
  }
}

void Tree::change_path_hash(const Group& group, const Id& id, const Child& child,
                            std::uint64_t before) {
  const Edge edge = edge_below(group, id, child);
  Edge old = edge;
  old.path_hash = before;
  core_.neighbors.change(child.peer, Side::parent_of, old, edge);
}

void Tree::tell_path(PeerRef child, const Id& id) {
  const Group* group = core_.find(id);
  if (!group || !group->in_tree()) return;
  core_.send(child, wire::RootPathUpdate{id, path_below(*group)});
  if (group->access) core_.send(child, wire::AccessUpdate{id, group->list(), group->life()});
}

void Tree::forget_parent(Group& group, const Id& id) {
  group.left_parent = group.parent();
  group.left_until = core_.now() + core_.settling_time();
  core_.neighbors.remove(group.parent(), Side::child_of, edge_above(group, id));
}

void Tree::drop_looped_parent(Group& group, const Id& id) {
  rare<"trees: a loop is found">();
  ++core_.counters.loops_found;
  say_farewell(group, id);
  const PeerRef looped = group.parent();
  if (looped) forget_parent(group, id);
  group.drop_parent();
  if (looped) group.owe_leave_to(looped);  // which says who answers for this node from now on
  look_elsewhere(id);
}

// --- Lost neighbours ---

void Tree::lose_parent(Group& group, const Id& id, Loss loss, Duration spread) {
  ++core_.counters.parents_lost;
  say_farewell(group, id);
  forget_parent(group, id);
  // Whoever counts what it counts may find out last that it is dead, or cut off.
  if (loss != Loss::told) group.left_until += core_.config.child_expiry;
  if (loss == Loss::failed) {
    group.drop_parent();
  } else {
    group.lose_parent();
  }
  const auto range = static_cast<std::uint64_t>(spread.count());
  look_for_parent(id, Duration(range == 0 ? 0 : core_.env.random().below(range)));
}

void Tree::parent_lost(PeerRef peer, Loss loss, Duration spread) {
  for (const Id& id : groups_where(peer)) lose_parent(*core_.find(id), id, loss, spread);
}

void Tree::give_up_parent(const Id& id, PeerRef peer, Loss loss) {
  Group* group = core_.find(id);
  if (group && group->parent() == peer) lose_parent(*group, id, loss, Duration::zero());
}

void Tree::parent_failed(const Id& id, PeerRef peer) {
  Group* group = core_.find(id);
  if (group && group->parent() == peer) lose_parent(*group, id, Loss::failed, Duration::zero());
}

std::vector<Id> Tree::groups_where(PeerRef parent) const {
  std::vector<Id> ids;
  for (const auto& [id, group] : core_.groups) {
    if (group.parent() == parent) ids.push_back(id);
  }
  return ids;
}

void Tree::child_lost(PeerRef peer) {
  std::vector<Id> ids;
  for (const auto& [id, group] : core_.groups) {
    if (group.children.contains(peer)) ids.push_back(id);
  }
  for (const Id& id : ids) strike_child(id, peer, Loss::failed);
}

void Tree::strike_child(const Id& id, PeerRef peer, Loss loss) {
  Group* group = core_.find(id);
  const Child* child = group ? group->children.find(peer) : nullptr;
  if (!child) return;
  ++core_.counters.children_struck;
  if (child->below.itself && loss == Loss::failed) core_.members_changed(id, peer);
  lose_child(*group, id, peer);
  prune(id);
}

void Tree::on_orphaned(PeerRef from, const wire::Orphaned& orphaned) {
  give_up_parent(orphaned.group, from, Loss::told);
}

// --- Changing roles ---

void Tree::release_parent(Group& group, const Id& id) {
  join_timers_.cancel(id);
  if (group.parent()) {
    say_farewell(group, id);
    forget_parent(group, id);
    group.lose_parent();
  }
  note_arrival(group, id);
  plan_farewell(group, id);
}

void Tree::step_down_below(Group& group, const Id& id, PeerRef root) {
  say_farewell(group, id);
  group.step_down();
  group.owe_leave_to(root);
}

void Tree::activated() {
  std::vector<Id> ids;
  for (const auto& [id, group] : core_.groups) {
    if (group.standing() == Standing::joining) ids.push_back(id);
  }
  for (const Id& id : ids) send_join(id);
}

void Tree::depart() {
  std::vector<Id> ids;
  for (const auto& [id, group] : core_.groups) ids.push_back(id);
  for (const Id& id : ids) {
    Group& group = *core_.find(id);
    join_timers_.cancel(id);
    group.member = false;
    group.watching = false;
    core_.members_changed(id);
    complete(id, errc::shutting_down);
    for (const PeerRef peer : group.children.peers()) send_off(group, id, peer);
    prune(id);
  }
}

// Children that are in the tree are served until they have found another
// parent; the others need not wait for this node.
void Tree::send_off(Group& group, const Id& id, PeerRef peer) {
  const Child& child = *group.children.find(peer);
  if (child.acknowledged) {
    core_.send(peer, wire::Orphaned{id});
  } else {
    core_.send(peer, wire::JoinRefused{id, child.nonce, wire::JoinRefusal::loop});
    lose_child(group, id, peer);
  }
}

void Tree::leave_all() {
  std::vector<Id> ids;
  for (const auto& [id, group] : core_.groups) ids.push_back(id);
  for (const Id& id : ids) {
    Group& group = *core_.find(id);
    for (const PeerRef peer : group.children.peers()) lose_child(group, id, peer);
    if (group.root_role()) group.step_down();
    prune(id);
  }
}

}  // namespace canopy::scribe
