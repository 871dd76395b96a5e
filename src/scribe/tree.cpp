#include "scribe/tree.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "base/rare.hpp"
#include "scribe/group_name.hpp"
#include "scribe/load_rule.hpp"
#include "scribe/member_counts.hpp"
#include "scribe/membership.hpp"
#include "scribe/ordering.hpp"
#include "scribe/planted_bug.hpp"
#include "scribe/roots.hpp"
#include "scribe/tracking.hpp"

namespace canopy::scribe {

namespace {

constexpr std::uint8_t attempts_before_detour = 2;
constexpr unsigned backoff_doublings_max = 16;
constexpr double retry_jitter = 0.2;
// For each group that this node looks for a parent in: whoever is asked by
// thousands of JOINs at once answers them one after the other.
constexpr Duration patience_per_join = std::chrono::microseconds(500);
constexpr Duration detour_delay = std::chrono::milliseconds(50);
constexpr std::uint8_t room_refusals_max = 5;
constexpr Duration stray_interval = std::chrono::milliseconds(100);
// A former parent that has sent nothing for this share of a heartbeat interval
// has nothing under way any more.
constexpr int farewell_share = 4;
// How far down a tree nodes that have to relieve themselves may push others.
constexpr std::size_t direct_join_depth_max = 32;

boost::system::error_code error_of(wire::JoinRefusal reason) {
  switch (reason) {
    case wire::JoinRefusal::name_conflict: return errc::name_conflict;
    case wire::JoinRefusal::denied: return errc::denied;
    case wire::JoinRefusal::limit: return errc::limit;
    case wire::JoinRefusal::no_such_group: return errc::no_such_group;
    case wire::JoinRefusal::loop: break;
  }
  return errc::protocol;
}

}  // namespace

// --- The node's own membership ---

void Tree::join(const wire::GroupName& name, const TokenKey& key, Completion done) {
  const auto fail_with = [&](errc error) {
    core_.upcalls.call([done = std::move(done), error] { done(error); });
  };
  if (core_.departing) return fail_with(errc::shutting_down);
  if (!valid_name(name)) return fail_with(errc::bad_name);
  const Id id = group_id(name, core_.pastry.config().id_bits);
  Group* group = core_.find(id);
  if (group && *group->name() != name) return fail_with(errc::name_conflict);
  const bool fresh = !group;
  if (!group) group = enter(id, name);
  if (!group) return fail_with(errc::limit);
  const wire::ProofRef proof =
      key ? core_.access.prove(id, wire::Right::join, key) : group->proof();
  if (group->in_tree() && !may_be_member(*group, id, proof)) return fail_with(errc::denied);
  if (proof || group->access) group->ensure_access().proof = proof;
  if (!group->member) ordering_.begin_membership(*group);
  group->member = true;
  core_.members_changed(id);
  waiting_joins_[id].push_back(std::move(done));
  if (group->in_tree()) {
    send_claim(*group, id);
    return complete(id, {});
  }
  if (core_.config.maintenance && !user_joins_.contains(id)) {
    user_joins_.schedule(id, core_.now() + core_.config.join_timeout);
    core_.wake_at(user_joins_.next());
  }
  if (fresh) look_for_parent(id, Duration::zero());
}

void Tree::give_up_join(const Id& id) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && group->member);
  group->member = false;
  core_.members_changed(id);
  complete(id, group->refused_for_want_of_room > 0 ? errc::limit : errc::timed_out);
  prune(id);
}

void Tree::leave(const Id& id) {
  Group* group = core_.find(id);
  if (!group || !group->member) return;
  group->member = false;
  group->watching = false;
  core_.place_changed(id);
  core_.members_changed(id);
  group->losses.reset();
  complete(id, errc::cancelled);
  send_claim(*group, id);
  prune(id);
}

void Tree::complete(const Id& id, boost::system::error_code error) {
  const auto waiting = waiting_joins_.find(id);
  if (waiting == waiting_joins_.end()) return;
  for (Completion& done : waiting->second) {
    core_.upcalls.call([done = std::move(done), error] { done(error); });
  }
  waiting_joins_.erase(waiting);
  user_joins_.cancel(id);
}

Group* Tree::enter(const Id& id, const wire::GroupName& name) {
  if (Group* known = core_.find(id)) return known;
  if (core_.groups.size() >= core_.config.groups_max) {
    ++core_.counters.limits_met;
    return nullptr;
  }
  const auto entry = core_.groups.try_emplace(id, std::make_shared<const wire::GroupName>(name));
  return &entry.first->second;
}

// --- JOINs of others ---

Tree::Outcome Tree::on_join(const wire::GroupJoin& join, bool may_pass_on) {
  const auto decline = [&](wire::JoinRefusal reason) {
    if (may_pass_on) return Outcome::pass_on;
    refuse(join, reason);
    return Outcome::handled;
  };
  Group* group = core_.find(join.group);
  const bool fresh = !group;
  if (!group) group = enter(join.group, join.name);
  if (!group) return decline(wire::JoinRefusal::limit);
  if (*group->name() != join.name) {
    // Which of the two is right, only the root knows; who is in its tree does.
    may_pass_on = may_pass_on && !group->in_tree();
    return decline(wire::JoinRefusal::name_conflict);
  }
  if (group->on_root_path(join.child)) {
    ++core_.counters.loops_refused;
    return decline(wire::JoinRefusal::loop);
  }
  if (group->children.size() >= core_.config.children_max &&
      !group->children.contains(join.child)) {
    ++core_.counters.limits_met;
    return decline(wire::JoinRefusal::limit);
  }
  if (has_too_many_entries(*group, join.child)) {
    ++core_.counters.child_limits_met;
    return decline(wire::JoinRefusal::limit);
  }
  Child& child = group->children.adopt(join.child, join.nonce, core_.now());
  note_claim(*group, child, join);
  ordering_.on_join(*group, join.group, join);
  if (group->in_tree()) {
    admit(*group, join.group, join.child);
  } else if (child.acknowledged) {
    forget_acknowledgement(*group, join.group, child);  // it asks again: answered when settled
  }
  if (fresh) look_for_parent(join.group, Duration::zero());
  return Outcome::handled;
}

void Tree::on_direct_join(PeerRef from, const wire::GroupJoin& join) {
  ++core_.counters.joins_received;
  if (from != join.child || !names(join.name, join.group, core_.pastry.config().id_bits)) {
    ++core_.counters.malformed;
    return;
  }
  const Group* group = core_.find(join.group);
  if (core_.departing || !core_.pastry.active() || !group || !group->in_tree()) {
    return refuse(join, wire::JoinRefusal::loop);
  }
  if (!has_room_for(join, *group)) return refuse(join, wire::JoinRefusal::limit);
  on_join(join, false);
}

// Below its limit, or much better off than whom it relieves; one that is merely
// full may have somebody below that has room, unless it has tried.
bool Tree::has_room_for(const wire::GroupJoin& join, const Group& group) const {
  if (group.children.contains(join.child)) return true;
  if (group.root_path().size() >= direct_join_depth_max) return false;
  const std::size_t entries = core_.neighbors.children_entries();
  const std::size_t allowed = core_.config.children_entries_max;
  return relieves(entries, join.entries, allowed) ||
         (entries == allowed && entries < join.entries && !core_.overload_stays);
}

void Tree::acknowledge(Group& group, const Id& id, Child& child) {
  if (!child.acknowledged) {
    tell_path_if_changed(group, id);
    core_.add_edge(child.peer, Side::parent_of, edge_below(group, id, child));
    child.acknowledged = child.answered_for = 1;
    core_.place_changed(id);
  }
  tracking_.child_taken(group, child.peer);
  core_.members_changed(id);
  core_.send(child.peer, wire::JoinAck{id, child.nonce, path_below(group),
                                       Ordering::position(group), group.tracked, group.list(),
                                       to_wire(child.below), core_.last.newest(id), group.life()});
  if (child.below.watched && group.shown.known) core_.send(child.peer, presence_of(group, id));
  ordering_.acknowledged(group, id);
}

void Tree::forget_acknowledgement(const Group& group, const Id& id, Child& child) {
  child.acknowledged = 0;
  core_.neighbors.remove(child.peer, Side::parent_of, edge_below(group, id, child));
}

void Tree::remove_child(Group& group, const Id& id, PeerRef peer) {
  Child* child = group.children.find(peer);
  if (child && child->acknowledged) forget_acknowledgement(group, id, *child);
  // Who was below it turns up elsewhere, or has done so.
  if (child && (!child->below.complete || child->below.members > child->below.itself)) {
    core_.unsettle(group, id);
  }
  group.children.remove(peer);
  if (group.access) group.access->proofs.erase(peer);
  core_.place_changed(id);
  core_.members_changed(id);
  ordering_.child_removed(group, peer);
}

// It may still be there, and count on this node.
void Tree::lose_child(Group& group, const Id& id, PeerRef peer) {
  const Child* child = group.children.find(peer);
  const bool answered_for = child && child->answered_for;
  remove_child(group, id, peer);
  if (answered_for) tracking_.child_lost(group, id, peer);
}

void Tree::refuse(const wire::GroupJoin& join, wire::JoinRefusal reason) {
  ++core_.counters.joins_refused;
  core_.send(join.child, wire::JoinRefused{join.group, join.nonce, reason});
}

// Below a parent, or as the root. Who has it for a child from before counts it still.
void Tree::note_arrival(Group& group, const Id& id) {
  if (const PeerRef left = std::exchange(group.left_parent, {}); !left || left == group.parent()) {
    return;
  }
  core_.unsettle(group, id, std::max(group.left_until - core_.now(), core_.settling_time()));
}

void Tree::adopt_old_root(const Id& id, PeerRef peer) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group);
  if (group->lost) group->lost->root_settled();
  if (group->children.contains(peer)) return;
  // An edge from the start, so that heartbeats find out if its JOIN never comes.
  tell_path_if_changed(*group, id);
  Child& child = group->children.adopt(peer, 0, core_.now());
  core_.add_edge(peer, Side::parent_of, edge_below(*group, id, child));
  child.acknowledged = child.answered_for = child.cleared = 1;
  child.claim = static_cast<std::uint32_t>(wire::Claim::carries);  // until its JOIN says more
  tracking_.child_taken(*group, peer);
}

// --- Looking for a parent ---

void Tree::look_for_parent(const Id& id, Duration delay, Way way) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group);
  group->begin_join(core_.next_nonce(), way);
  if (delay == Duration::zero() || !core_.config.maintenance) return send_join(id);
  join_timers_.schedule(id, core_.now() + delay);
  core_.wake_at(join_timers_.next());
}

// Not by others who would have to join first: where all ways to the root are by one that
// is below this node, all of them would find it before the root.
void Tree::look_elsewhere(const Id& id) {
  look_for_parent(id, core_.env.random().jittered(detour_delay, 0.5), Way::straight);
}

void Tree::send_join(const Id& id) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && group->standing() == Standing::joining);
  if (core_.departing) return;
  const bool root = core_.pastry.active() && core_.pastry.is_root(id);
  if (root && core_.pastry.may_act(id)) {
    join_timers_.cancel(id);
    roots_.become_root_of(id);
    return;
  }
  if (core_.config.maintenance) {
    const unsigned doublings = std::min<unsigned>(group->join_attempts(), backoff_doublings_max);
    const Duration wait =
        std::min(core_.config.join_retry_interval * (1 << doublings), core_.config.join_retry_max);
    const Duration patience = patience_per_join * join_timers_.size();
    join_timers_.schedule(id,
                          core_.now() + core_.env.random().jittered(wait + patience, retry_jitter));
    core_.wake_at(join_timers_.next());
  }
  // activated() goes on from here, or the next try: the root before may still act.
  if (!core_.pastry.active() || root) return;
  const bool detour =
      group->way() == Way::detour || group->join_attempts() >= attempts_before_detour;
  group->join_sent();
  ++core_.counters.joins_sent;
  wire::GroupJoin join = make_join(*group, id, group->join_nonce());
  join.straight = group->way() == Way::straight;
  const PeerRef first_hop = detour ? random_first_hop() : PeerRef{};
  if (first_hop) {
    core_.pastry.route_via(first_hop, id, join);
  } else {
    core_.pastry.route(id, join);
  }
}

// The next hop to a random key: any entry of the routing table may come out.
PeerRef Tree::random_first_hop() {
  Id key;
  for (unsigned digit = 0; digit < Id::byte_count; ++digit) {
    key = key.with_digit(digit, 8, static_cast<unsigned>(core_.env.random().below(256)));
  }
  return core_.pastry.next_hop(key.truncated(core_.pastry.config().id_bits));
}

void Tree::ask_candidate(const Id& id, PeerRef candidate, std::uint32_t entries) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group);
  if (group->untold_parent() == candidate) {
    rare<"trees: back to a parent that is owed a Leave">();
    // The Leave that it is owed would undo this JOIN.
    farewells_.cancel(id);
    group->take_untold_parent();
  }
  group->ask(candidate, core_.next_nonce());
  ++core_.counters.joins_sent;
  core_.send(candidate, make_join(*group, id, core_.last_nonce, entries));
}

// For a candidate that has taken this node; the parent may be lost already.
void Tree::part_with_parent(Group& group, const Id& id, std::uint32_t nonce) {
  ++core_.counters.relocations;
  if (group.parent()) {
    say_farewell(group, id);
    forget_parent(group, id);
    group.lose_parent();
  }
  group.begin_join(nonce);
}

void Tree::on_join_ack(PeerRef from, const wire::JoinAck& ack) {
  const Id& id = ack.group;
  Group* group = core_.find(id);
  if (!group) return send_leave(from, id, ack.nonce, wire::LeaveReason::gone);
  const wire::Peers path = nearest(ack.root_path);
  const wire::Peers path_before = group->root_path();
  if (group->asked(from, ack.nonce)) {
    group->forget_candidate();
    const bool loop = std::ranges::find(path, core_.self) != path.end();
    if (!loop && from != group->parent()) part_with_parent(*group, id, ack.nonce);
  }
  const bool had_parent = group->parent() == from;
  if (had_parent) set_told(core_, *group, id, to_tally(ack.counted));
  switch (group->on_join_ack(from, ack.nonce, path, core_.self)) {
    case AckVerdict::attached: {
      join_timers_.cancel(id);
      group->told = to_tally(ack.counted);
      core_.add_edge(from, Side::child_of, edge_above(*group, id));
      group->answered_from = ack.position ? ack.position : ack.tracked;
      group->tracked = std::max(group->tracked, ack.tracked);
      note_arrival(*group, id);
      if (group->untold_parent() == from) group->take_untold_parent();
      plan_farewell(*group, id);
      refuse_pending_ancestors(*group, id);
      take_list(*group, id, ack.access, ack.life.value_or(group->life()));
      ordering_.attached(*group, id, ack.position);
      settled(id, group->root_path() != path_before);
      core_.place_changed(id);
      prune(id);  // the refused may have been all that it was in the tree for
      break;
    }
    case AckVerdict::path_changed:
      path_changed(*group, id, path_before);
      take_list(*group, id, ack.access, ack.life.value_or(group->life()));
      core_.members_changed(id);
      check_membership(id);
      break;
    case AckVerdict::unchanged:
      take_list(*group, id, ack.access, ack.life.value_or(group->life()));
      core_.members_changed(id);
      check_membership(id);
      break;
    case AckVerdict::surplus:
      rare<"trees: a second parent">();
      send_leave(from, id, ack.nonce);
      break;
    case AckVerdict::loop:  // from one that does not keep the protocol
      send_leave(from, id, ack.nonce,
                 had_parent ? wire::LeaveReason::orphaned : wire::LeaveReason::gone);
      drop_looped_parent(*group, id);
      break;
  }
  core_.neighbors.heard_from_parent(from, core_.now());
}

// A child that waits for its JoinAck while it is an ancestor already has found
// its parent elsewhere; this node would close a ring with it.
void Tree::refuse_pending_ancestors(Group& group, const Id& id) {
  for (const PeerRef ancestor : group.root_path()) {
    const Child* child = group.children.find(ancestor);
    if (!child || child->acknowledged) continue;
    rare<"trees: a child that waits turns out to be an ancestor">();
    ++core_.counters.loops_refused;
    core_.send(ancestor, wire::JoinRefused{id, child->nonce, wire::JoinRefusal::loop});
    lose_child(group, id, ancestor);
  }
}

void Tree::settled(const Id& id, bool path_changed) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && group->in_tree());
  core_.members_changed(id);
  if (path_changed) tell_children_path(*group, id);
  for (const PeerRef peer : group->children.peers()) {
    const Child& child = *group->children.find(peer);
    if (!child.acknowledged && child.nonce != 0) admit(*group, id, peer);
  }
  if (!group->member) return;
  if (may_be_member(*group, id)) {
    send_claim(*group, id);  // its JOIN may have been sent before it was a member
    complete(id, {});
  } else {
    end_membership(id, errc::denied);
  }
}

void Tree::on_join_refused(PeerRef from, const wire::JoinRefused& refusal) {
  Group* group = core_.find(refusal.group);
  if (!group) return;
  const bool final = refusal.reason == wire::JoinRefusal::denied ||
                     refusal.reason == wire::JoinRefusal::no_such_group;
  if (final && group->parent() == from) {
    dropped_by_parent(*group, refusal.group);
    // Its word to the parent may have got lost: the answer to a JOIN is final.
    if (refusal.reason == wire::JoinRefusal::denied && group->member &&
        may_be_member(*group, refusal.group)) {
      return look_for_parent(refusal.group, Duration::zero());
    }
  } else if (group->standing() != Standing::joining || refusal.nonce != group->join_nonce()) {
    return;
  }
  switch (refusal.reason) {
    case wire::JoinRefusal::name_conflict:
    case wire::JoinRefusal::no_such_group: fail(refusal.group, refusal.reason); break;
    case wire::JoinRefusal::denied: on_denied(refusal.group); break;
    case wire::JoinRefusal::loop: look_elsewhere(refusal.group); break;
    case wire::JoinRefusal::limit: look_for_room(*group, refusal.group); break;
  }
}

// Somebody else may have room, and is asked at once. After several that have none,
// whoever waits for it is told; else the JOIN is sent again in a while.
void Tree::look_for_room(Group& group, const Id& id) {
  if (group.refused_for_want_of_room < room_refusals_max) ++group.refused_for_want_of_room;
  if (!core_.config.maintenance) return;
  if (group.refused_for_want_of_room < room_refusals_max) {
    group.take_detour();
    join_timers_.schedule(id, core_.now() + core_.env.random().jittered(detour_delay, 0.5));
    core_.wake_at(join_timers_.next());
  } else if (user_joins_.contains(id)) {
    give_up_join(id);
  }
}

void Tree::fail(const Id& id, wire::JoinRefusal reason) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group);
  for (const PeerRef peer : group->children.peers()) {
    const Child& child = *group->children.find(peer);
    if (child.acknowledged && reason != wire::JoinRefusal::no_such_group) {
      core_.send(peer, wire::Orphaned{id});
    } else {
      core_.send(peer, wire::JoinRefused{id, child.nonce, reason});
    }
    remove_child(*group, id, peer);
  }
  tell_end(id, error_of(reason));
  if (group->root_role()) group->step_down();
  prune(id);
}

// The membership is over: whoever has it, or waits for it, learns why.
void Tree::tell_end(const Id& id, boost::system::error_code error) {
  Group* group = core_.find(id);
  const bool told_by_join = waiting_joins_.contains(id);
  complete(id, error);
  if (group->member && !told_by_join) {
    core_.upcalls.call([&events = core_.events, id, error] { events.detached(id, error); });
  }
  group->member = false;
  group->watching = false;
  core_.members_changed(id);
}

// --- Leaving ---

void Tree::send_leave(PeerRef to, const Id& id, std::uint32_t nonce, wire::LeaveReason reason) {
  ++core_.counters.leaves_sent;
  wire::Leave leave{id, nonce, reason, {}, {}};
  const Group* group = core_.find(id);
  if (reason == wire::LeaveReason::moved) {
    leave.since = group->answered_from;
  } else if (reason == wire::LeaveReason::gone && group && group->lost) {
    leave.lost = group->lost->legacy(core_.now());
  }
  core_.send(to, std::move(leave));
}

// To a peer that is not the parent, or not any more.
void Tree::send_leave(PeerRef to, const Id& id, std::uint32_t nonce) {
  const Group* group = core_.find(id);
  wire::LeaveReason reason = wire::LeaveReason::gone;
  if (!group) {
    // If its Leave got lost, so did the word of those that it could not reach.
    reason = wire::LeaveReason::orphaned;
  } else if (group->needed() && group->in_tree()) {
    reason = wire::LeaveReason::moved;
  } else if (group->needed() && group->untold_parent() == to) {
    reason = wire::LeaveReason::orphaned;
  }
  send_leave(to, id, nonce, reason);
}

// Between two parents: what the old one's ancestors had sent before the new one
// knew of this node is still on its way here through the old one. So that keeps
// its child until both streams are seen to overlap, or the old one's dries up.
void Tree::plan_farewell(Group& group, const Id& id) {
  group.welcome_former_until(core_.now() + core_.config.heartbeat_interval);
  if (!group.untold_parent()) return;
  if (!core_.config.maintenance) return say_farewell(group, id);
  farewells_.schedule(id, core_.now() + core_.config.heartbeat_interval / farewell_share);
  core_.wake_at(farewells_.next());
}

void Tree::say_farewell(Group& group, const Id& id) {
  farewells_.cancel(id);
  const PeerRef former = group.untold_parent();
  if (!former) return;
  send_leave(former, id, core_.last_nonce);
  core_.unsettle(group, id);
  // Else it is told once more, by whom this node is answered for.
  if (group.in_tree() || !group.needed()) group.take_untold_parent();
}

void Tree::on_multicast(const Group& group, const Id& id, PeerRef from, bool fresh) {
  const PeerRef former = group.untold_parent();
  if (!former || !farewells_.contains(id)) return;
  if (!fresh) {
    // Links keep order: all that came before it has come, all after it will.
    farewells_.schedule(id, core_.now());
  } else if (from == former) {
    const MonoTime quiet = core_.now() + core_.config.heartbeat_interval / farewell_share;
    farewells_.schedule(id, std::min(quiet, group.former_welcome_until()));
  }
  core_.wake_at(farewells_.next());
}

void Tree::prune(const Id& id) {
  Group* group = core_.find(id);
  if (!group || group->needed()) return;
  join_timers_.cancel(id);
  claim_checks_.cancel(id);
  if (group->parent()) {
    core_.counts->take_leave(id);
    forget_parent(*group, id);
    send_leave(group->parent(), id, group->join_nonce(), wire::LeaveReason::gone);
  }
  say_farewell(*group, id);
  core_.members_changed(id);
  core_.last.forget(id);
  tracking_.leaves_tree(*group, id);
  core_.groups.erase(id);
}

void Tree::on_leave(PeerRef from, const wire::Leave& leave) {
  Group* group = core_.find(leave.group);
  if (!group) return;
  const Child* child = group->children.find(from);
  if (!child) {
    const bool lost = group->lost && group->lost->contains(from, core_.now());
    if (lost) tracking_.child_left(*group, from, leave);
    if (lost) core_.unsettle(*group, leave.group);
    return;
  }
  if (earlier(leave.nonce, child->nonce)) return;
  const bool answered_for = child->answered_for;
  const bool member_left = child->below.itself && leave.reason == wire::LeaveReason::gone;
  remove_child(*group, leave.group, from);
  if (member_left) core_.members_changed(leave.group, from);
  if (leave.reason != wire::LeaveReason::gone) {
    core_.unsettle(*group, leave.group);
  }
  if (answered_for) tracking_.child_left(*group, from, leave);
  if (planted_bug != PlantedBug::leave_not_pruned) prune(leave.group);
}

void Tree::answer_stray(PeerRef from, const Id& id) {
  const MonoTime now = core_.now();
  if (from == stray_peer_ && id == stray_group_ && now < stray_answered_ + stray_interval) return;
  stray_peer_ = from;
  stray_group_ = id;
  stray_answered_ = now;
  disclaim(from, id);
}

void Tree::disclaim(PeerRef from, const Id& id) {
  // While this node looks for a parent, one more that serves it does no harm.
  // To one that it has just parted with, it says goodbye in its own time.
  const Group* group = core_.find(id);
  const bool farewell_planned = group && group->untold_parent() == from && farewells_.contains(id);
  if (farewell_planned || (group && group->standing() == Standing::joining)) return;
  // Two roots: this one's tree is not below the other's yet.
  if (group && group->serves_as_root()) {
    return send_leave(from, id, core_.last_nonce, wire::LeaveReason::orphaned);
  }
  send_leave(from, id, core_.last_nonce);
}

void Tree::tick() {
  for (const Id& id : user_joins_.take_due(core_.now())) give_up_join(id);
  for (const Id& id : farewells_.take_due(core_.now())) say_farewell(*core_.find(id), id);
  for (const Id& id : claim_checks_.take_due(core_.now())) deny_silent_children(id);
  for (const Id& id : join_timers_.take_due(core_.now())) {
    const Group* group = core_.find(id);
    if (group && group->standing() == Standing::joining) send_join(id);
  }
}

}  // namespace canopy::scribe
