#include "scribe/roots.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "scribe/group_name.hpp"
#include "scribe/routed.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

namespace {

// Replicas are kept for this many refreshes without a root's confirmation.
constexpr int replica_refreshes = 20;
constexpr std::size_t states_max = 1024;  // in one message, as the codec carries them

// An old root that departs is closer than its successor until its goodbye; it
// is not to be given back what it has just handed over.
Duration predecessor_grace(const Config& config) {
  return config.departure_timeout + 2 * config.heartbeat_interval;
}

}  // namespace

Roots::Roots(Core& core, Tree& tree, Replay replay)
    : core_(core),
      tree_(tree),
      replay_(std::move(replay)),
      registry_(core.config.groups_max),
      transfers_(core.config.request_retry_interval) {}

// --- Becoming the root ---

void Roots::become_root_of(const Id& id) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && !group->root_role());
  if (RootRecord* record = registry_.find(id)) return serve(id, *record, Start::takeover);
  tree_.release_parent(*group, id);
  group->become_searching();
  start_search(id);
}

bool Roots::serve_or_hold(const Id& id, const wire::RoutedBody& body) {
  const Group* group = core_.find(id);
  if (group && group->serves_as_root()) return true;
  if (RootRecord* record = registry_.find(id)) {
    serve(id, *record, Start::takeover);
    group = core_.find(id);
    return group && group->serves_as_root();
  }
  if (held_ >= core_.config.held_publishes_max) {
    ++core_.counters.publishes_shed;
    return false;
  }
  const bool fresh = !searches_.contains(id);
  searches_[id].held.push_back(body);
  ++held_;
  if (fresh) start_search(id);
  return false;
}

void Roots::prepare_for_join(const Id& id) {
  if (const Group* group = core_.find(id)) {
    if (!group->root_role()) become_root_of(id);
  } else if (RootRecord* record = registry_.find(id)) {
    serve(id, *record, Start::takeover);
  }
}

boost::system::error_code Roots::create(const wire::GroupState& state) {
  RootRecord* record = registry_.find(state.group);
  if (!record) {
    if (const Group* group = core_.find(state.group); group && *group->name() != state.name) {
      return errc::name_conflict;
    }
    found(state.group, state.name, true);
    return registry_.find(state.group) ? boost::system::error_code{} : errc::limit;
  }
  if (record->state.name != state.name) return errc::name_conflict;
  if (!record->state.created) {
    record->state.created = true;
    ++record->state.version;
    replicate(state.group, *record);
  }
  return {};
}

void Roots::found(const Id& id, const wire::GroupName& name, bool created) {
  wire::GroupState state;
  state.group = id;
  state.name = name;
  state.epoch = 1;
  state.version = 1;
  state.created = created;
  if (RootRecord* record = registry_.merge(state, core_.now())) {
    serve(id, *record, Start::founding);
  } else {
    ++core_.counters.limits_met;
  }
}

void Roots::serve(const Id& id, RootRecord& record, Start start) {
  if (const Group* other = core_.find(id); other && *other->name() != record.state.name) {
    tree_.fail(id, wire::JoinRefusal::name_conflict);
  }
  Group* group = tree_.enter(id, record.state.name);
  if (!group) return;
  if (start == Start::founding) {
    ++core_.counters.roots_founded;
  } else {
    ++core_.counters.takeovers;
    ++record.state.epoch;
    ++record.state.version;
  }
  record.own = true;
  record.touched = core_.now();
  record.successor = {};
  record.holders.clear();
  const bool path_changed = !group->root_path().empty();
  tree_.release_parent(*group, id);
  group->become_root();
  tree_.settled(id, path_changed);
  replicate(id, record);
  plan_refresh();
  if (core_.config.maintenance) {
    review_at_ = std::min(review_at_, core_.now() + core_.config.heartbeat_interval);
    core_.wake_at(review_at_);
  }
}

// --- Asking around ---

void Roots::start_search(const Id& id) {
  Search& search = searches_[id];
  if (search.nonce != 0) return;  // under way
  search.nonce = ++last_search_nonce_;
  if (core_.config.maintenance) {
    search.unanswered = core_.pastry.closest(id, core_.config.root_replicas);
    std::erase(search.unanswered, core_.self);
  }
  if (search.unanswered.empty()) return finish_search(id);
  search.deadline = core_.now() + core_.config.root_search_timeout;
  core_.wake_at(search.deadline);
  for (const PeerRef peer : search.unanswered) {
    core_.send(peer, wire::RootStateRequest{search.nonce, id});
  }
}

Roots::Search Roots::take_search(const Id& id) {
  const auto entry = searches_.find(id);
  CANOPY_ASSERT(entry != searches_.end());
  Search search = std::move(entry->second);
  searches_.erase(entry);
  held_ -= search.held.size();
  return search;
}

void Roots::finish_search(const Id& id) {
  const Search search = take_search(id);
  Group* group = core_.find(id);
  const bool wanted = group && (group->member || !group->children.empty());
  if (!group || !group->serves_as_root()) {
    RootRecord* record = search.best ? registry_.merge(*search.best, core_.now()) : nullptr;
    if (record) {
      serve(id, *record, Start::takeover);
    } else if (wanted) {
      found(id, *group->name(), false);
    }
  }
  group = core_.find(id);
  if (group && group->standing() == Standing::searching) {
    group->step_down();  // nobody wants it any more, or there was no room
    tree_.prune(id);
  }
  for (const wire::RoutedBody& body : search.held) {
    group = core_.find(id);
    replay_(body, group && group->serves_as_root());
  }
}

// Another peer is the root, and closer: this node's view of the ring is behind.
void Roots::redirect_search(const Id& id, PeerRef root) {
  const Search search = take_search(id);
  for (const wire::RoutedBody& body : search.held) core_.pastry.route_via(root, id, body);
  Group* group = core_.find(id);
  if (!group || group->standing() != Standing::searching) return;
  group->step_down();
  if (group->needed()) {
    tree_.look_for_parent(id, core_.config.join_retry_interval);
  } else {
    tree_.prune(id);
  }
}

bool Roots::valid(const wire::GroupState& state) const {
  return names(state.name, state.group, core_.pastry.config().id_bits);
}

void Roots::on_state_request(PeerRef from, const wire::RootStateRequest& request) {
  const Group* group = core_.find(request.group);
  RootRecord* record = registry_.find(request.group);
  wire::RootStateReply reply;
  reply.nonce = request.nonce;
  reply.group = request.group;
  reply.root = record && group && group->serves_as_root() && !core_.departing;
  if (record) reply.states.push_back(record->state);
  core_.send(from, reply);

  const PeerTable& peers = core_.env.peers();
  if (reply.root && group->standing() == Standing::root && !core_.departing &&
      closer_to(request.group, peers.id(from), peers.id(core_.self))) {
    begin_handover(request.group, *record, from);
  }
}

void Roots::on_state_reply(PeerRef from, const wire::RootStateReply& reply) {
  const auto entry = searches_.find(reply.group);
  if (entry == searches_.end() || entry->second.nonce != reply.nonce) return;
  Search& search = entry->second;
  if (std::erase(search.unanswered, from) == 0) return;
  for (const wire::GroupState& state : reply.states) {
    if (state.group != reply.group || !valid(state)) {
      ++core_.counters.malformed;
      continue;
    }
    if (!search.best || supersedes(state, *search.best)) search.best = state;
  }
  const PeerTable& peers = core_.env.peers();
  if (reply.root && closer_to(reply.group, peers.id(from), peers.id(core_.self))) {
    return redirect_search(reply.group, from);
  }
  if (search.unanswered.empty() || (reply.root && search.best)) finish_search(reply.group);
  const Group* group = core_.find(reply.group);
  if (reply.root && group && group->serves_as_root()) tree_.adopt_old_root(reply.group, from);
}

// --- States from and to other peers ---

bool Roots::keep(const wire::GroupState& state) {
  RootRecord* record = registry_.merge(state, core_.now());
  if (!record) {
    ++core_.counters.limits_met;
    return false;
  }
  if (record->own && *core_.find(state.group)->name() != record->state.name) {
    // Two groups of one id, founded apart: this node's has lost.
    record->own = false;
    tree_.fail(state.group, wire::JoinRefusal::name_conflict);
  }
  plan_refresh();
  return true;
}

void Roots::plan_refresh() {
  if (!core_.config.maintenance || refresh_at_ != never) return;
  refresh_at_ = core_.now() + core_.config.child_refresh_interval;
  core_.wake_at(refresh_at_);
}

void Roots::on_states(PeerRef from, const wire::RootStates& message) {
  if (message.states.size() > states_max || core_.departing) return;
  bool all_kept = true;
  for (const wire::GroupState& state : message.states) {
    if (!valid(state)) {
      ++core_.counters.malformed;
      continue;
    }
    all_kept &= message.handover ? take_over(from, state) : keep(state);
  }
  if (all_kept) core_.send(from, wire::RootStatesAck{message.nonce});
}

bool Roots::take_over(PeerRef from, const wire::GroupState& state) {
  if (!keep(state)) return false;
  RootRecord& record = *registry_.find(state.group);
  Group* group = core_.find(state.group);
  if (group && group->serves_as_root()) {
    // Two trees become one: this node's, and the old root's below it.
    if (record.successor) transfers_.cancel(record.successor, Purpose::handover, state.group);
    record.successor = {};
    ++record.state.epoch;
    ++record.state.version;
    group->become_root();
    replicate(state.group, record);
  } else {
    serve(state.group, record, Start::takeover);
    group = core_.find(state.group);
    if (!group) return false;
  }
  record.predecessor = from;
  record.predecessor_until = core_.now() + predecessor_grace(core_.config);
  if (record.state.name == state.name) tree_.adopt_old_root(state.group, from);
  if (searches_.contains(state.group)) finish_search(state.group);
  return true;
}

void Roots::on_states_ack(PeerRef from, const wire::RootStatesAck& message) {
  const auto batch = transfers_.confirmed(from, message.nonce, core_.now());
  if (!batch) return;
  for (const Id& id : batch->groups) {
    RootRecord* record = registry_.find(id);
    if (!record) continue;
    if (batch->purpose == Purpose::handover) {
      if (record->successor == from) handed_over_to(from, id);
    } else {
      RootRegistry::confirm(*record, from, record->state.epoch, record->state.version);
    }
  }
  core_.wake_at(transfers_.next_deadline());
}

void Roots::begin_handover(const Id& id, RootRecord& record, PeerRef closer) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && group->serves_as_root());
  if (record.successor && record.successor != closer) {
    transfers_.cancel(record.successor, Purpose::handover, id);
  }
  group->hand_over();
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
  record.own = false;
  record.successor = {};
  record.touched = core_.now();
  tree_.step_down_below(*group, id, peer);
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
    if (peer == core_.self || RootRegistry::holds(record, peer)) continue;
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
      if (const RootRecord* record = registry_.find(id)) message.states.push_back(record->state);
    }
    ++core_.counters.replica_updates_sent;
    core_.send(batch.peer, std::move(message));
  }
}

// --- Changes of the ring ---

void Roots::ring_changed() {
  if (registry_.records().empty()) return;
  review_at_ = core_.now();
  core_.wake_at(review_at_);
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
    } else if (core_.pastry.is_root(id)) {
      serve(id, record, Start::takeover);
    }
  }
}

void Roots::review_own(const Id& id, RootRecord& record) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && group->serves_as_root());
  const PeerRef closer = core_.pastry.next_hop(id);
  if (!closer) {
    if (group->standing() == Standing::handing_over) {
      transfers_.cancel(record.successor, Purpose::handover, id);
      record.successor = {};
      group->become_root();
    }
    replicate(id, record);
  } else if (closer == record.predecessor && core_.now() < record.predecessor_until) {
    replicate(id, record);
  } else if (!transfers_.queued(closer, Purpose::handover, id)) {
    begin_handover(id, record, closer);
  }
}

void Roots::peer_failed(PeerRef peer) {
  transfers_.cancel(peer);
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
  for (const PeerRef peer : core_.pastry.closest(id, 2)) {
    if (peer != core_.self) return peer;
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
    if (!record.own) continue;
    if (const PeerRef next = successor(id)) {
      begin_handover(id, record, next);
    } else {
      record.own = false;
      core_.find(id)->step_down();
    }
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
      record.holders.clear();
      replicate(id, record);
    }
  }
  for (const Id& id : forgotten) {
    ++core_.counters.groups_forgotten;
    registry_.erase(id);
    core_.find(id)->step_down();
    tree_.prune(id);
  }
  registry_.expire_replicas(core_.now() - replica_refreshes * core_.config.child_refresh_interval);
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
}

MonoTime Roots::next_deadline() const {
  MonoTime next = std::min({review_at_, refresh_at_, transfers_.next_deadline()});
  for (const auto& [id, search] : searches_) next = std::min(next, search.deadline);
  return next;
}

void Roots::collect_peers(std::vector<PeerRef>& in_use) const {
  transfers_.collect_peers(in_use);
  for (const auto& [id, search] : searches_) {
    in_use.insert(in_use.end(), search.unanswered.begin(), search.unanswered.end());
    for (const wire::RoutedBody& body : search.held) collect_peers_of(body, in_use);
  }
  for (const auto& [id, record] : registry_.records()) {
    for (const RootRecord::Holder& holder : record.holders) in_use.push_back(holder.peer);
    if (record.predecessor) in_use.push_back(record.predecessor);
    if (record.successor) in_use.push_back(record.successor);
  }
}

}  // namespace canopy::scribe
