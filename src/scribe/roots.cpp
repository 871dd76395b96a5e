#include "scribe/roots.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "base/rare.hpp"
#include "scribe/access.hpp"
#include "scribe/ordering.hpp"
#include "scribe/routed.hpp"
#include "scribe/sequencer.hpp"
#include "scribe/tracking.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

namespace {

// Replicas are kept for this many refreshes without a root's confirmation.
constexpr int replica_refreshes = 20;

}  // namespace

Roots::Roots(Core& core, Tree& tree, Ordering& ordering, Tracking& tracking, Replay replay)
    : core_(core),
      tree_(tree),
      ordering_(ordering),
      tracking_(tracking),
      replay_(std::move(replay)),
      registry_(core.config.groups_max, core.config.deletion_memory),
      transfers_(core.config.request_retry_interval),
      held_(core.config.held_publishes_max, core.config.held_bytes_max) {}

// --- Becoming the root ---

void Roots::become_root_of(const Id& id) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && !group->root_role());
  if (RootRecord* record = usable(id)) return serve(id, *record, Start::takeover);
  tree_.release_parent(*group, id);
  group->become_searching();
  start_search(id);
}

bool Roots::serve_or_hold(const Id& id, const wire::RoutedBody& body) {
  const Group* group = core_.find(id);
  if (group && group->serves_as_root()) return true;
  if (RootRecord* record = usable(id)) {
    serve(id, *record, Start::takeover);
    group = core_.find(id);
    if (record->state.deleted()) replay_(body, false);
    return group && group->serves_as_root();
  }
  hold(id, body);
  return false;
}

bool Roots::hold_in_doubt(const Id& id, const wire::RoutedBody& body) {
  const RootRecord* record = registry_.find(id);
  if (!record || !record->doubted) return false;
  hold(id, body);
  return true;
}

void Roots::hold(const Id& id, const wire::RoutedBody& body) {
  const std::size_t bytes = wire::size_estimate(body);
  // It may be from before this process was stopped, as what doubt() drops.
  if (core_.now() < core_.stale_until || !held_.has_room_for(bytes)) {
    ++core_.counters.publishes_shed;
    return;
  }
  searches_[id].held.push_back(body);
  held_.take(bytes);
  start_search(id);
}

void Roots::prepare_for_join(const Id& id) {
  if (const Group* group = core_.find(id)) {
    if (!group->root_role()) become_root_of(id);
  } else if (RootRecord* record = usable(id)) {
    serve(id, *record, Start::takeover);
  }
}

// What a disk has kept may be old: others are asked first.
RootRecord* Roots::usable(const Id& id) {
  RootRecord* record = registry_.find(id);
  return record && record->offered ? record : nullptr;
}

// Only of a group that nobody has created, and nobody is in the tree of.
boost::system::error_code Roots::change_mode(RootRecord& record, wire::GroupMode mode) {
  const Id id = record.state.group;
  Group* group = core_.find(id);
  if (record.state.created || !record.own || !group || group->member || !group->children.empty()) {
    return errc::mode_conflict;
  }
  record.state.mode = mode;
  begin_epoch(id, record);
  return {};
}

void Roots::found(wire::GroupState state) {
  state.epoch = std::max<std::uint64_t>(state.epoch, 1);
  state.version = 1;
  if (RootRecord* record = registry_.merge(state, core_.now())) {
    serve(state.group, *record, Start::founding);
    if (Group* group = core_.find(state.group)) expect_strays(*group);
  } else {
    ++core_.counters.limits_met;
  }
}

// Members of a tree that nobody remembers, who look for a parent yet.
void Roots::expect_strays(Group& group) {
  const MonoTime until = std::max(bereft_until_, others_bereft_until_);
  if (until <= core_.now() || core_.pastry.leaf_set().empty()) return;
  rare<"roots: a group is founded that may have strays">();
  tracking_.root_lost(group, {}, until);
}

void Roots::serve(const Id& id, RootRecord& record, Start start, const wire::Position& closed) {
  const Group* other = core_.find(id);
  const bool conflicts = other && *other->name() != record.state.name;
  if (other && !conflicts) learn_from_tree(record.state, *other);
  if (withdraw_deleted(id, record)) return;
  if (conflicts) tree_.fail(id, wire::JoinRefusal::name_conflict);
  Group* group = tree_.enter(id, record.state.name);
  if (!group) return;
  if (start == Start::founding) {
    ++core_.counters.roots_founded;
  } else {
    ++core_.counters.takeovers;
  }
  record.own = true;
  record.doubted = record.rootless = false;
  record.touched = core_.now();
  record.successor = {};
  record.holders.clear();
  const bool path_changed = !group->root_path().empty();
  if (start == Start::takeover || path_changed) {
    tracking_.root_lost(*group, path_changed ? group->root_path().front() : PeerRef{});
  }
  tree_.release_parent(*group, id);
  group->become_root();
  if (start == Start::takeover || record.state.mode == wire::GroupMode::ordered) {
    begin_epoch(id, record, closed);
  } else {
    begin_rounds(*group, record);
  }
  tree_.take_list(*group, id, record.state.access, record.state.life);
  tree_.settled(id, path_changed);
  replicate(id, record);
  note_change(id);
  plan_refresh();
  if (core_.config.maintenance) {
    review_at_ = std::min(review_at_, core_.now() + core_.config.heartbeat_interval);
    core_.wake_at(review_at_);
  }
}

// A replica may be older than the tree: of an earlier list, or of an earlier life.
void Roots::learn_from_tree(wire::GroupState& state, const Group& group) {
  if (group.life() < state.life) return;
  const bool later_life = group.life() > state.life;
  const wire::AccessRef list = later_life ? group.list() : merged(state.access, group.list());
  const bool another_list = later_life || mark_of(list) != mark_of(state.access);
  const wire::GroupMode mode = group.order ? wire::GroupMode::ordered : state.mode;
  if (!another_list && mode == state.mode) return;
  rare<"roots: a replica is older than the tree">();
  state.mode = mode;
  state.life = group.life();
  state.access = list;
  state.created |= another_list;
  ++state.version;
}

// The state goes to the replicas with the next word to them, which is now.
void Roots::begin_epoch(const Id& id, RootRecord& record, const wire::Position& closed) {
  Group* group = core_.find(id);
  if (record.state.mode == wire::GroupMode::ordered) {
    record.state.epoch = ordering_.begin_epoch(*group, id, record.state.epoch, closed);
  } else {
    ordering_.drop(*group, id);
    ++record.state.epoch;
  }
  ++record.state.version;
  begin_rounds(*group, record);
}

// Of tracked multicasts; in an ordered group they are the places in its order. Else
// whoever has the state next begins above them.
void Roots::begin_rounds(Group& group, RootRecord& record) {
  std::uint64_t epoch = record.state.epoch;
  if (record.state.mode != wire::GroupMode::ordered) {
    const PeerDescriptor& self = core_.env.peers()[core_.self];
    epoch = epoch_above(std::max(group.tracked.epoch, (epoch - 1) << epoch_count_shift), self.id,
                        self.incarnation);
    record.state.epoch = std::max(record.state.epoch, epoch >> epoch_count_shift);
  }
  group.begin_rounds(epoch);
}

void Roots::renew_epoch(const Id& id) {
  RootRecord* record = registry_.find(id);
  CANOPY_ASSERT(record && record->own);
  begin_epoch(id, *record);
  replicate(id, *record);
  note_change(id);
}

// The peer that was to be the root will not be.
void Roots::resume(const Id& id, RootRecord& record) {
  rare<"roots: a handover is called off">();
  // It may have taken others for its children, too.
  Group& group = *core_.find(id);
  tracking_.root_lost(group, record.successor);
  record.successor = {};
  group.become_root();
  // It may have begun one, and have told it to some.
  if (record.state.mode == wire::GroupMode::ordered || Ordering::serves(group)) {
    begin_epoch(id, record);
  }
  replicate(id, record);
}

// --- Changes of the ring ---

void Roots::ring_changed() {
  if (registry_.records().empty()) return;
  review_at_ = core_.now();
  core_.wake_at(review_at_);
}

// What is from before is sent again if somebody waits for it yet; else another root has
// served it meanwhile, or it has failed.
void Roots::doubt() {
  for (auto& [id, record] : registry_.records()) record.doubted = record.own;
  for (auto& [id, search] : searches_) {
    core_.counters.publishes_shed += search.held.size();
    give_back_room(search);
    search.held.clear();
  }
}

void Roots::review() {
  if (!core_.pastry.active() || core_.departing) return;
  std::vector<Id> ids;
  ids.reserve(registry_.records().size());
  for (const auto& [id, record] : registry_.records()) ids.push_back(id);
  for (const Id& id : ids) {
    RootRecord& record = *registry_.find(id);
    if (record.own) {
      review_own(id, record);
    } else if (core_.pastry.is_root(id) && core_.pastry.may_act(id)) {
      if (record.offered) {
        serve(id, record, Start::takeover);
      } else {
        start_search(id);
      }
    } else if (record.rootless && !among_closest(id, core_.config.root_replicas)) {
      offer_again(record);
    }
  }
}

bool Roots::among_closest(const Id& id, std::size_t count) const {
  const wire::Peers closest = core_.pastry.closest(id, count);
  return std::ranges::find(closest, core_.self) != closest.end();
}

void Roots::review_own(const Id& id, RootRecord& record) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && group->serves_as_root());
  const PeerRef closer = core_.pastry.next_hop(id);
  if (!closer) {
    if (group->standing() == Standing::handing_over) {
      transfers_.cancel(record.successor, Purpose::handover, id);
      resume(id, record);
    } else {
      replicate(id, record);
    }
  } else if (is_leaving(closer) ||
             (closer == record.predecessor && core_.now() < record.predecessor_until)) {
    replicate(id, record);
  } else if (!transfers_.queued(closer, Purpose::handover, id)) {
    begin_handover(id, record, closer);
  }
}

// Near enough for both to have known of a group.
bool Roots::stood_beside(PeerRef peer) const {
  return among_closest(core_.env.peers().id(peer), core_.config.root_replicas + 1);
}

void Roots::leaf_failed(PeerRef peer) {
  if (stood_beside(peer)) bereft_until_ = core_.now() + core_.config.child_expiry;
}

void Roots::peer_failed(PeerRef peer) {
  std::erase(leaving_, peer);
  undecided_.erase(peer);
  lose_successor(peer);
  registry_.root_gone(peer);
  for (auto& [id, record] : registry_.records()) {
    if (record.predecessor == peer) record.predecessor = {};
  }
  std::vector<Id> finished;
  for (auto& [id, search] : searches_) {
    if (std::erase(search.unanswered, peer) > 0 && search.unanswered.empty()) {
      finished.push_back(id);
    }
  }
  for (const Id& id : finished) finish_search(id);
  ring_changed();
}

PeerRef Roots::successor(const Id& id) const {
  for (const PeerRef peer : core_.pastry.closest(id, leaving_.size() + 2)) {
    if (peer != core_.self && !is_leaving(peer)) return peer;
  }
  return {};
}

void Roots::depart() {
  while (!searches_.empty()) {
    const Id id = searches_.begin()->first;
    take_search(id);  // who asked asks again, and somebody else then
    if (Group* group = core_.find(id); group && group->standing() == Standing::searching) {
      group->step_down();
    }
  }
  for (auto& [id, record] : registry_.records()) {
    if (record.own) hand_over_or_drop(id, record);
  }
  send_transfers();
}

// --- Time ---

bool Roots::abandoned(const Id& id, RootRecord& record) {
  const Group* group = core_.find(id);
  CANOPY_ASSERT(group);
  if (group->member || !group->children.empty()) record.touched = core_.now();
  return !record.state.created && core_.now() - record.touched >= core_.config.empty_group_expiry;
}

void Roots::refresh() {
  std::vector<Id> forgotten;
  for (auto& [id, record] : registry_.records()) {
    if (!record.own) continue;
    if (abandoned(id, record)) {
      forgotten.push_back(id);
    } else {
      replicate(id, record);
    }
  }
  for (const Id& id : forgotten) {
    ++core_.counters.groups_forgotten;
    forget(id);
    core_.find(id)->step_down();
    tree_.prune(id);
  }
  send_digests();
  const MonoTime since = core_.now() - replica_refreshes * core_.config.child_refresh_interval;
  for (const Id& id : registry_.expired(since, core_.now())) forget(id);
  offer_kept();
}

void Roots::tick() {
  const MonoTime now = core_.now();
  std::vector<Id> overdue;
  for (const auto& [id, search] : searches_) {
    if (search.deadline <= now) overdue.push_back(id);
  }
  for (const Id& id : overdue) finish_search(id);
  if (review_at_ <= now) {
    review_at_ = core_.config.maintenance && !registry_.records().empty()
                     ? now + core_.config.heartbeat_interval
                     : never;
    review();
  }
  if (refresh_at_ <= now) {
    refresh_at_ = registry_.records().empty() ? never : now + core_.config.child_refresh_interval;
    if (!core_.departing) refresh();
  }
  send_transfers();
  look_after_kept();
}

MonoTime Roots::next_deadline() const {
  MonoTime next = std::min({review_at_, refresh_at_, transfers_.next_deadline()});
  if (keeping_) next = std::min(next, keeping_->next_deadline());
  for (const auto& [id, search] : searches_) next = std::min(next, search.deadline);
  return next;
}

void Roots::collect_peers(std::vector<PeerRef>& in_use) const {
  transfers_.collect_peers(in_use);
  in_use.insert(in_use.end(), leaving_.begin(), leaving_.end());
  in_use.insert(in_use.end(), undecided_.begin(), undecided_.end());
  for (const auto& [id, search] : searches_) {
    in_use.insert(in_use.end(), search.unanswered.begin(), search.unanswered.end());
    for (const wire::RoutedBody& body : search.held) collect_peers_of(body, in_use);
  }
  if (keeping_) {
    for (const Keeping::Wait& wait : keeping_->waits) in_use.push_back(wait.asker);
  }
  for (const auto& [id, record] : registry_.records()) {
    for (const RootRecord::Holder& holder : record.holders) in_use.push_back(holder.peer);
    if (record.root) in_use.push_back(record.root);
    if (record.predecessor) in_use.push_back(record.predecessor);
    if (record.given_by) in_use.push_back(record.given_by);
    if (record.successor) in_use.push_back(record.successor);
  }
}

}  // namespace canopy::scribe
