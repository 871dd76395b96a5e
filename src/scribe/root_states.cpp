// The part of Roots that gives a group's state to replicas and to the next root,
// and takes it from others.
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/rare.hpp"
#include "scribe/access.hpp"
#include "scribe/ordering.hpp"
#include "scribe/roots.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

namespace {

constexpr std::size_t states_max = 1024;  // in one message, as the codec carries them

// An old root that departs is closer than its successor until its goodbye; it
// is not to be given back what it has just handed over.
Duration predecessor_grace(const Config& config) {
  return config.departure_timeout + 2 * config.heartbeat_interval;
}

}  // namespace

bool Roots::keep(const wire::GroupState& state) {
  const RootRecord* before = registry_.find(state.group);
  const wire::AccessRef list_before = before ? before->state.access : nullptr;
  const std::uint32_t life_before = before ? before->state.life : 0;
  const bool served = before && before->own;
  const wire::GroupState own = served ? before->state : wire::GroupState{};
  RootRecord* record = registry_.merge(state, core_.now());
  if (!record) {
    ++core_.counters.limits_met;
    return false;
  }
  note_change(state.group);
  if (served) report_lost(own, lost_between(own, state, record->state));
  const std::uint64_t mark = mark_of(record->state.access);
  if (mark != mark_of(list_before) && mark != mark_of(state.access)) {
    rare<"access: two lists were made at once">();
    ++core_.counters.access_conflicts;
  }
  if (record->own && withdraw_deleted(state.group, *record)) return true;
  const bool changed = mark != mark_of(list_before) || record->state.life != life_before;
  if (record->own && changed) access_changed(state.group, *record);
  if (record->own && *core_.find(state.group)->name() != record->state.name) {
    // Two groups of one id, founded apart: this node's has lost.
    record->own = record->doubted = false;
    tree_.fail(state.group, wire::JoinRefusal::name_conflict);
  }
  if (record->own) settle_mode(state.group, *record);
  plan_refresh();
  return true;
}

// A group whose state was lost may have been founded anew by a JOIN, in another mode.
void Roots::settle_mode(const Id& id, const RootRecord& record) {
  const Group& group = *core_.find(id);
  const bool ordered = record.state.mode == wire::GroupMode::ordered;
  if (group.standing() == Standing::root && Ordering::serves(group) != ordered) renew_epoch(id);
}

void Roots::report_lost(const wire::GroupState& state, std::string what) {
  if (what.empty()) return;
  rare<"roots: what one of two roots had is not kept">();
  ++core_.counters.root_states_lost;
  core_.upcalls.call([this, name = state.name, what = std::move(what)] {
    core_.events.root_state_lost(name, what);
  });
}

// Members of the one have not had what the other gave places, and are told a gap.
void Roots::report_other_order(const wire::GroupState& theirs) {
  const wire::Position own = ordering_.last_position(theirs.group);
  if (!own || !theirs.closed || own.epoch == theirs.closed.epoch) return;
  const auto text = [](const wire::Position& position) {
    return std::to_string(position.sequence) + " of epoch " + std::to_string(position.epoch);
  };
  report_lost(theirs, "one order of its messages: they end at " + text(own) + " and at " +
                          text(theirs.closed) + ", and members have had one of these");
}

bool Roots::keep_replica(PeerRef from, const wire::GroupState& state) {
  if (!keep(state)) return false;
  RootRecord& record = *registry_.find(state.group);
  record.root = from;
  record.rootless = false;
  // It may be stricter than the root knows, or deleted.
  const bool newer =
      mark_of(record.state.access) != mark_of(state.access) || record.state.life > state.life;
  if (!record.own && newer) {
    record.offered = false;
    offer(record);
  } else {
    record.offered = true;
  }
  return true;
}

void Roots::plan_refresh() {
  if (!core_.config.maintenance || refresh_at_ != never) return;
  refresh_at_ = core_.now() + core_.config.child_refresh_interval;
  core_.wake_at(refresh_at_);
}

void Roots::on_states(PeerRef from, const wire::RootStates& message) {
  if (message.states.size() > states_max) return;
  if (core_.departing) return core_.send(from, wire::RootStatesAck{message.nonce, true});
  bool all_kept = true;
  for (const wire::GroupState& state : message.states) {
    if (!valid(state)) {
      ++core_.counters.malformed;
      continue;
    }
    const bool handed = message.handover && !state.deleted();
    all_kept &= handed ? take_over(from, state) : keep_replica(from, state);
  }
  if (all_kept) core_.send(from, wire::RootStatesAck{message.nonce, false});
}

bool Roots::take_over(PeerRef from, const wire::GroupState& state) {
  if (!keep(state)) return false;
  RootRecord& record = *registry_.find(state.group);
  if (record.state.deleted()) return true;
  Group* group = core_.find(state.group);
  const bool again = group && group->standing() == Standing::root && record.predecessor == from &&
                     state.closed && record.taken == state.closed;
  if (again) {  // the confirmation got lost
    rare<"roots: a group is handed over twice">();
    return true;
  }
  record.predecessor = record.given_by = from;
  record.taken = state.closed;
  if (record.doubted) abdicate(state.group, record);
  if (group && group->serves_as_root()) {
    rare<"roots: two roots become one">();
    ++core_.counters.roots_merged;
    report_other_order(state);
    // Two trees become one: this node's, and the old root's below it. Neither
    // has what the other was told.
    if (record.successor) transfers_.cancel(record.successor, Purpose::handover, state.group);
    record.successor = {};
    group->become_root();
    begin_epoch(state.group, record);
    replicate(state.group, record);
  } else {
    serve(state.group, record, Start::takeover, state.closed);
    group = core_.find(state.group);
    if (!group) return false;
  }
  record.predecessor_until = core_.now() + predecessor_grace(core_.config);
  if (record.state.name == state.name) tree_.adopt_old_root(state.group, from);
  if (searches_.contains(state.group)) finish_search(state.group);
  return true;
}

void Roots::on_states_ack(PeerRef from, const wire::RootStatesAck& message) {
  if (message.nonce == 0) return on_digest_answer(from, message);
  const auto batch = transfers_.confirmed(from, message.nonce, core_.now());
  if (!batch) return;
  if (message.leaving) return on_leaving(from);
  for (const Id& id : batch->groups) {
    RootRecord* record = registry_.find(id);
    if (!record) continue;
    if (batch->purpose == Purpose::handover) {
      if (record->successor == from) handed_over_to(from, id);
    } else if (!transfers_.queued(from, Purpose::replica, id)) {
      // Else it has changed since, and goes once more.
      RootRegistry::confirm(*record, from, record->state.epoch, record->state.version);
    }
  }
  look_after_kept();
  core_.wake_at(transfers_.next_deadline());
}

// --- Replicas that both sides have ---

// A message a holder, however many groups: only where the two differ, the states
// go again. Who does not answer may be of a version that knows no digests.
void Roots::send_digests() {
  for (const auto& [holder, set] : registry_.confirmed()) {
    if (transfers_.busy(holder)) continue;
    if (undecided_.insert(holder).second) {
      core_.send(holder, wire::ReplicaDigest{set.hash, set.count});
    } else {
      on_digest_answer(holder, {.differs = true});
    }
  }
}

void Roots::on_digest(PeerRef from, const wire::ReplicaDigest& digest) {
  const bool same = registry_.replicas_of(from) == ReplicaSet{digest.hash, digest.count};
  if (same) {
    registry_.touch_replicas(from, core_.now());
  } else {
    registry_.disown_replicas(from);
  }
  core_.send(from, wire::RootStatesAck{0, core_.departing, !same});
}

void Roots::on_digest_answer(PeerRef from, const wire::RootStatesAck& answer) {
  undecided_.erase(from);
  if (answer.leaving) return on_leaving(from);
  if (!answer.differs) return;
  rare<"roots: a replica differs">();
  ++core_.counters.replica_mismatches;
  registry_.forget_holder(from);
  for (auto& [id, record] : registry_.records()) replicate(id, record);
}

// Neighbours that leave at once, as when a whole cluster stops, do not wait for
// each other.
void Roots::on_leaving(PeerRef peer) {
  if (!is_leaving(peer)) leaving_.push_back(peer);
  lose_successor(peer);
}

void Roots::lose_successor(PeerRef peer) {
  transfers_.cancel(peer);
  for (auto& [id, record] : registry_.records()) {
    if (!record.own || record.successor != peer) continue;
    resume(id, record);
    if (core_.departing) {
      rare<"roots: the successor of one that departs is lost">();
      hand_over_or_drop(id, record);
    }
  }
  send_transfers();
}

bool Roots::is_leaving(PeerRef peer) const {
  return std::ranges::find(leaving_, peer) != leaving_.end();
}

// This node leaves.
void Roots::hand_over_or_drop(const Id& id, RootRecord& record) {
  if (const PeerRef next = successor(id)) return begin_handover(id, record, next);
  record.own = record.doubted = false;
  core_.find(id)->step_down();
  tree_.prune(id);
}

void Roots::begin_handover(const Id& id, RootRecord& record, PeerRef closer) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && group->serves_as_root());
  if (record.successor && record.successor != closer) {
    // It may have begun: an order is handed over to one only.
    transfers_.cancel(record.successor, Purpose::handover, id);
    resume(id, record);
  }
  group->hand_over();
  ordering_.freeze(*group);
  record.successor = closer;
  transfers_.enqueue(closer, Purpose::handover, id, core_.now());
  core_.wake_at(core_.now());
}

// The new root has the state, and this node for its child. A JOIN makes that
// last; a node that serves nobody any more says goodbye instead.
void Roots::handed_over_to(PeerRef peer, const Id& id) {
  Group* group = core_.find(id);
  if (!group || group->standing() != Standing::handing_over) return;
  ++core_.counters.handovers;
  RootRecord& record = *registry_.find(id);
  record.own = record.doubted = false;
  record.successor = {};
  record.touched = core_.now();
  if (auto last = core_.last.find(id)) core_.send(peer, std::move(*last));
  tree_.step_down_below(*group, id, peer);
  ordering_.handed_over(*group, peer);
  if (searches_.contains(id)) redirect_search(id, peer);
  if (group->needed() && !core_.departing) {
    tree_.look_for_parent(id, Duration::zero());
  } else {
    tree_.prune(id);
  }
}

void Roots::replicate(const Id& id, RootRecord& record) {
  if (!record.own) return;
  const wire::Peers closest = core_.pastry.closest(id, core_.config.root_replicas);
  std::erase_if(record.holders, [&](const RootRecord::Holder& holder) {
    return std::ranges::find(closest, holder.peer) == closest.end();
  });
  bool added = false;
  for (const PeerRef peer : closest) {
    if (peer == core_.self || is_leaving(peer) || RootRegistry::holds(record, peer)) continue;
    transfers_.enqueue(peer, Purpose::replica, id, core_.now());
    added = true;
  }
  if (added) core_.wake_at(core_.now());
}

void Roots::send_transfers() {
  for (const StateTransfers::Batch& batch : transfers_.take_due(core_.now())) {
    wire::RootStates message;
    message.nonce = batch.nonce;
    message.handover = batch.purpose == Purpose::handover;
    for (const Id& id : batch.groups) {
      const RootRecord* record = registry_.find(id);
      if (!record) continue;
      message.states.push_back(RootRegistry::told(*record, core_.now()));
      message.states.back().closed =
          message.handover ? ordering_.last_position(id) : wire::Position{};
    }
    ++core_.counters.replica_updates_sent;
    core_.send(batch.peer, std::move(message));
  }
}

}  // namespace canopy::scribe
