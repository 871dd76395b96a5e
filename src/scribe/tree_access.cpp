// The part of Tree that keeps those out who may not be members.
//
// Only members need the right to join: who carries for others does not, and sees what
// it carries, as the root and its successors do; against those, only encryption by the
// publisher helps. But who has merely asked is sent no payload before it was admitted,
// nor passes any on to those who have asked it (Group::may_get). A node
// learns the list from its parent, with the JoinAck and whenever it changes, and goes
// by it three times: for its own membership, for children that ask, and, when it
// changes, for those that it has. These say again what they are (AccessClaim). Who
// has lost the right leaves by itself; who does not answer is denied. That both ends
// of an edge have the same list, heartbeats find out, as with the path.
#include <utility>

#include "scribe/membership.hpp"
#include "scribe/ordering.hpp"
#include "scribe/planted_bug.hpp"
#include "scribe/roots.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

namespace {

constexpr int claim_heartbeats = 2;  // within which children answer a new list

wire::Claim claim_of(const Group& group) {
  return group.member ? wire::Claim::member : wire::Claim::carries;
}

wire::Claim claim_of(const Child& child) { return static_cast<wire::Claim>(child.claim); }

}  // namespace

// --- What this node asks for ---

wire::GroupJoin Tree::make_join(const Group& group, const Id& id, std::uint32_t nonce,
                                std::uint32_t entries) const {
  return {id,
          *group.name(),
          core_.self,
          nonce,
          entries,
          Ordering::position(group),
          false,
          claim_of(group),
          group.proof(),
          core_.last.newest(id)};
}

bool Tree::may_be_member(const Group& group, const Id& id) const {
  return may_be_member(group, id, group.proof());
}

bool Tree::may_be_member(const Group& group, const Id& id, const wire::ProofRef& proof) const {
  if (planted_bug == PlantedBug::right_not_checked) return true;
  return core_.access.allows(group.list(), wire::Right::join, id, core_.self, proof);
}

// The parent asks again when the list changes; until then it does not matter.
void Tree::send_claim(const Group& group, const Id& id) {
  if (!group.parent() || !restricts_joining(group.list())) return;
  core_.send(group.parent(),
             wire::AccessClaim{id, claim_of(group), mark_of(group.list()), group.proof()});
}

void Tree::check_membership(const Id& id) {
  const Group* group = core_.find(id);
  if (group && group->member && group->in_tree() && !may_be_member(*group, id)) {
    end_membership(id, errc::denied);
  } else {
    prune(id);  // its children may have been denied
  }
}

void Tree::end_membership(const Id& id, errc reason) {
  Group* group = core_.find(id);
  tell_end(id, reason);
  group->losses.reset();
  core_.place_changed(id);
  prune(id);
}

void Tree::on_denied(const Id& id) {
  Group* group = core_.find(id);
  if (group->member) end_membership(id, errc::denied);
  group = core_.find(id);
  if (!group || group->standing() != Standing::joining) return;
  if (!group->needed()) return prune(id);
  look_for_parent(id, core_.config.join_retry_interval);  // for its children, who need no right
}

// It has forgotten this node already, which is to tell who answers for it.
void Tree::dropped_by_parent(Group& group, const Id& id) {
  say_farewell(group, id);
  const PeerRef parent = group.parent();
  forget_parent(group, id);
  group.drop_parent();
  group.owe_leave_to(parent);
}

// --- The list ---

void Tree::take_list(Group& group, const Id& id, const wire::AccessRef& list, std::uint32_t life) {
  const wire::AccessRef known = group.list();
  if (life == group.life() && mark_of(known) == mark_of(list)) return;
  // Nobody takes a list of the same life away, or back to an earlier version: what this
  // node has was lost with all who were to keep it.
  const bool later = life == group.life() && known && (!list || descends(*known, *list));
  if (life < group.life() || later) return roots_.offer_list(group, id);
  const Edge above = edge_above(group, id);
  group.ensure_access().list = list;
  group.access->life = life;
  if (group.parent()) {
    core_.neighbors.change(group.parent(), Side::child_of, above, edge_above(group, id));
  }
  const std::uint64_t before = group.told_path_hash;
  group.told_path_hash = edge_hash(core_, group, path_below(group));
  for (const Child& child : group.children) {
    if (!child.acknowledged) continue;
    change_path_hash(group, id, child, before);
    core_.send(child.peer, wire::AccessUpdate{id, list, life});
  }
  doubt_children(group, id);
}

void Tree::on_access_update(PeerRef from, const wire::AccessUpdate& update) {
  Group* group = core_.find(update.group);
  if (!group || group->judge(from, core_.now()) == SenderVerdict::stray) {
    return answer_stray(from, update.group);
  }
  if (from != group->parent()) return;
  take_list(*group, update.group, update.access, update.life.value_or(group->life()));
  check_membership(update.group);
  group = core_.find(update.group);
  if (group) send_claim(*group, update.group);
}

// --- Children ---

bool Tree::has_too_many_entries(const Group& group, PeerRef child) const {
  const std::uint32_t most = core_.config.child_entries_max;
  return most != 0 && !group.children.contains(child) &&
         core_.neighbors.children_entries_of(child) >= most;
}

void Tree::note_claim(Group& group, Child& child, const wire::GroupJoin& join) const {
  if (child.nonce != join.nonce) return;  // an older JOIN, come late
  child.claim = static_cast<std::uint32_t>(join.claim);
  child.cleared = 0;
  if (join.proof) {
    group.ensure_access().proofs[join.child] = join.proof;
  } else if (group.access) {
    group.access->proofs.erase(join.child);
  }
}

bool Tree::may_be_child(Group& group, const Id& id, const Child& child,
                        const wire::ProofRef& proof) {
  const wire::AccessRef list = group.list();
  if (!restricts_joining(list) || claim_of(child) == wire::Claim::carries) return true;
  if (planted_bug == PlantedBug::right_not_checked) return true;
  return claim_of(child) == wire::Claim::member &&
         core_.access.allows(list, wire::Right::join, id, child.peer, proof);
}

// A child that asks, in a tree whose list is known.
bool Tree::admit(Group& group, const Id& id, PeerRef peer) {
  Child& child = *group.children.find(peer);
  wire::ProofRef proof;
  if (group.access) {
    if (auto kept = group.access->proofs.extract(peer)) proof = std::move(kept.mapped());
  }
  // An older JOIN that comes late, again, says nothing of one that was admitted.
  if (!child.cleared && !may_be_child(group, id, child, proof)) {
    deny(group, id, peer);
    return false;
  }
  child.cleared = 1;
  acknowledge(group, id, child);
  return true;
}

void Tree::deny(Group& group, const Id& id, PeerRef peer) {
  ++core_.counters.joins_denied;
  const Child& child = *group.children.find(peer);
  core_.send(peer, wire::JoinRefused{id, child.nonce, wire::JoinRefusal::denied});
  lose_child(group, id, peer);
}

// Who carries, or has the right by its id, need not answer.
void Tree::doubt_children(Group& group, const Id& id) {
  claim_checks_.cancel(id);
  if (!restricts_joining(group.list())) return;
  bool doubtful = false;
  for (const PeerRef peer : group.children.peers()) {
    Child& child = *group.children.find(peer);
    if (!child.acknowledged) continue;
    child.cleared = may_be_child(group, id, child, nullptr) ? 1 : 0;
    if (claim_of(child) == wire::Claim::none) deny(group, id, peer);
    doubtful |= group.children.contains(peer) && !child.cleared;
  }
  if (!doubtful || !core_.config.maintenance) return;
  claim_checks_.schedule(id, core_.now() + claim_heartbeats * core_.config.heartbeat_interval);
  core_.wake_at(claim_checks_.next());
}

void Tree::on_access_claim(PeerRef from, const wire::AccessClaim& claim) {
  Group* group = core_.find(claim.group);
  Child* child = group ? group->children.find(from) : nullptr;
  if (!child || !child->acknowledged) return;
  child->claim = static_cast<std::uint32_t>(claim.claim);
  if (may_be_child(*group, claim.group, *child, claim.proof)) {
    child->cleared = 1;
  } else if (claim.mark == mark_of(group->list())) {
    deny(*group, claim.group, from);
    prune(claim.group);
  }
}

void Tree::deny_silent_children(const Id& id) {
  Group* group = core_.find(id);
  if (!group || !group->in_tree()) return;
  for (const PeerRef peer : group->children.peers()) {
    const Child& child = *group->children.find(peer);
    if (child.acknowledged && !child.cleared) deny(*group, id, peer);
  }
  prune(id);
}

}  // namespace canopy::scribe
