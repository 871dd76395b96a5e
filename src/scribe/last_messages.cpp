#include "scribe/last_messages.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

#include "scribe/planted_bug.hpp"
#include "scribe/root_registry.hpp"

namespace canopy::scribe {

namespace {

// Within so many heartbeat intervals most children of a failed root have found its
// successor.
constexpr int last_patience_intervals = 4;
constexpr unsigned fetches_max = 5;

wire::Multicast multicast_of(const wire::LastReply& reply) {
  wire::Multicast message;
  message.group = reply.group;
  message.id = reply.id;
  message.epoch = reply.epoch;
  message.sequence = reply.sequence;
  message.reign = reply.reign;
  message.body = reply.body;
  return message;
}

// Stamps of a group tell which message is later only as long as it keeps its mode.
bool of_its_mode(const Group& group, const wire::Position& stamp) {
  return !stamp || (group.order != nullptr) == of_an_order(stamp);
}

// What may be from before this root's reign, or of what it has sent itself.
bool possible(const Group& group, const RootRecord* record, const wire::Position& stamp) {
  if (!record || !record->own) return false;
  if (stamp.epoch != record->state.epoch) return stamp.epoch < record->state.epoch;
  if (!group.order) return (stamp.sequence & ~best_effort_stamp) <= group.multicasts;
  return group.order->sequencer && stamp <= group.order->sequencer->last();
}

}  // namespace

// --- Asking ---

void LastMessages::ask(const Id& id, LastCompletion done) {
  const Group* group = core_.find(id);
  if (group && !sure(id) && !core_.departing) {
    search(*group, id).users.push_back(std::move(done));
    return;
  }
  boost::system::error_code error;
  if (core_.departing) error = errc::shutting_down;
  std::optional<wire::Multicast> message;
  if (const auto kept = core_.last.find(id); group && kept) message = multicast_of(*kept);
  core_.upcalls.call([done = std::move(done), error, message] { done(error, message); });
}

// Whether what is here is the last one.
bool LastMessages::sure(const Id& id) const {
  return core_.last.find(id) && !(state_ && state_->fetches.contains(id));
}

LastMessages::State& LastMessages::state() {
  if (!state_) state_ = std::make_unique<State>();
  return *state_;
}

LastMessages::Search& LastMessages::search(const Group& group, const Id& id) {
  const auto [entry, fresh] = state().searches.try_emplace(id);
  Search& search = entry->second;
  if (!fresh) return search;
  const MonoTime now = core_.now();
  search.deadline = now + core_.config.last_timeout;
  MonoTime look_at = now + core_.config.request_retry_interval;
  if (group.serves_as_root()) {
    const bool later_elsewhere =
        core_.last.newest(id) != wire::Position{} || state_->fetches.contains(id);
    const bool recovers = group.lost && group.lost->missing_until(now) != MonoTime{};
    const int intervals = later_elsewhere || recovers ? last_patience_intervals : 0;
    look_at = std::min(search.deadline, now + intervals * core_.config.heartbeat_interval);
    search.deadline = look_at;
  } else {
    ask_parent(group, id);
  }
  state_->timers.schedule(id, look_at);
  core_.wake_at(look_at);
  return search;
}

void LastMessages::ask_parent(const Group& group, const Id& id) {
  if (group.parent()) core_.send(group.parent(), wire::LastRequest{id});
}

void LastMessages::tick() {
  if (core_.last.settle_at() <= core_.now()) core_.last.settle();
  if (!state_) return;
  for (const Id& id : state_->fetch_timers.take_due(core_.now())) ask_children(id);
  for (const Id& id : state_->timers.take_due(core_.now())) {
    const Group* group = core_.find(id);
    const MonoTime deadline = state_->searches.at(id).deadline;
    if (!group || core_.now() >= deadline) {
      const bool unanswered = !group || !group->serves_as_root();
      finish(id, unanswered ? errc::timed_out : errc{});
      continue;
    }
    ask_parent(*group, id);
    state_->timers.schedule(id,
                            std::min(deadline, core_.now() + core_.config.request_retry_interval));
  }
}

MonoTime LastMessages::next_deadline() const {
  if (!state_) return core_.last.settle_at();
  return std::min({core_.last.settle_at(), state_->timers.next(), state_->fetch_timers.next()});
}

// With what there is now.
void LastMessages::finish(const Id& id, errc reason) {
  if (!state_) return;
  auto search = state_->searches.extract(id);
  if (!search) return;
  state_->timers.cancel(id);
  // A later one than what is here cannot be had: then what is here is the last.
  if (!core_.last.find(id)) core_.last.disbelieve(id);
  for (const PeerRef asker : search.mapped().askers) give(asker, id);
  std::optional<wire::Multicast> message;
  if (const auto kept = core_.last.find(id)) message = multicast_of(*kept);
  boost::system::error_code error;
  if (reason != errc{} && !message) error = reason;
  for (LastCompletion& done : search.mapped().users) {
    core_.upcalls.call([done = std::move(done), error, message] { done(error, message); });
  }
}

// --- What children have ---

// The child says that it knows of a later one. Only a root can tell whether that may
// be; others get it for the root.
void LastMessages::claimed(const Group& group, const Id& id, const wire::Position& stamp,
                           const RootRecord* record) {
  if (planted_bug == PlantedBug::last_not_fetched || core_.departing) return;
  if (!later(stamp, core_.last.newest(id))) return;
  if (group.serves_as_root() && !possible(group, record, stamp)) return refuse();
  const auto [entry, fresh] = state().fetches.try_emplace(id);
  if (later(stamp, entry->second.stamp)) entry->second.stamp = stamp;
  if (!fresh) return;
  state_->fetch_timers.schedule(id, core_.now());
  core_.wake_at(core_.now());
}

void LastMessages::refuse() { ++core_.counters.last_refused; }

void LastMessages::ask_children(const Id& id) {
  const Group* group = core_.find(id);
  Fetch& fetch = state_->fetches.at(id);
  const bool had = !later(fetch.stamp, core_.last.newest(id));
  if (!group || had || fetch.attempts == fetches_max) {
    state_->fetches.erase(id);
    return;
  }
  if (group->in_tree()) {
    ++fetch.attempts;
    for (const Child& child : group->children) {
      if (child.acknowledged) core_.send(child.peer, wire::LastRequest{id});
    }
  }
  state_->fetch_timers.schedule(id, core_.now() + core_.config.request_retry_interval);
}

// --- Answering ---

void LastMessages::give(PeerRef to, const Id& id) {
  wire::LastReply reply;
  reply.group = id;
  if (auto kept = core_.last.find(id)) {
    ++core_.counters.last_given;
    reply = std::move(*kept);
  }
  core_.send(to, std::move(reply));
}

void LastMessages::on_request(PeerRef from, const wire::LastRequest& request) {
  const Group* group = core_.find(request.group);
  const Child* child = group ? group->children.find(from) : nullptr;
  const bool from_child = child && child->acknowledged;
  if (!from_child && (!group || group->parent() != from)) {
    ++core_.counters.strays_dropped;
    return;
  }
  const bool here = from_child ? sure(request.group) : core_.last.find(request.group).has_value();
  if (here || core_.departing) return give(from, request.group);
  if (!from_child) return;  // whoever is below passes it up once it is here
  wire::Peers& askers = search(*group, request.group).askers;
  if (std::ranges::find(askers, from) == askers.end()) askers.push_back(from);
}

void LastMessages::on_reply(PeerRef from, const wire::LastReply& reply, const RootRecord* record) {
  const Group* group = core_.find(reply.group);
  const bool given =
      group && group->serves_as_root() && record && record->given_by == from && record->own;
  const bool from_parent = group && group->parent() == from;
  const bool known = given || from_parent || (group && group->children.contains(from));
  if (!known || !of_its_mode(*group, reply.stamp)) {
    ++core_.counters.strays_dropped;
  } else if (reply.found && reply.stamp != stamp_of(multicast_of(reply))) {
    ++core_.counters.malformed;
  } else if (reply.body.size() > core_.config.body_max) {
    ++core_.counters.limits_met;
  } else if (from_parent) {
    on_reply_from_above(*group, reply);
  } else if (reply.found && !reply.hint) {
    on_reply_from_below(*group, reply, record);
  }
}

void LastMessages::on_reply_from_above(const Group& group, const wire::LastReply& reply) {
  if (reply.hint) {
    if (core_.last.heard_of(reply.group, reply.stamp)) spread(group, reply.group, reply.stamp);
    return;
  }
  if (reply.found && core_.last.wants(reply)) core_.passed(multicast_of(reply));
  finish(reply.group);
}

// Passed on unread: if the root takes it, it comes down again as a hint.
void LastMessages::on_reply_from_below(const Group& group, const wire::LastReply& reply,
                                       const RootRecord* record) {
  if (!later(reply.stamp, core_.last.newest(reply.group))) return;
  if (!group.serves_as_root()) {
    if (group.parent()) core_.send(group.parent(), reply);
    return;
  }
  if (!possible(group, record, reply.stamp)) return refuse();
  core_.passed(multicast_of(reply));
  spread(group, reply.group, reply.stamp);
  finish(reply.group);
}

// Children are told that there is a later one.
void LastMessages::spread(const Group& group, const Id& id, const wire::Position& stamp) {
  wire::LastReply hint;
  hint.group = id;
  hint.stamp = stamp;
  hint.hint = true;
  if (!hint.stamp) return;
  for (const Child& child : group.children) {
    if (child.acknowledged) core_.send(child.peer, hint);
  }
}

void LastMessages::on_join(const wire::GroupJoin& join, const RootRecord* record) {
  const Group* group = core_.find(join.group);
  if (!group || !group->children.contains(join.child)) return;
  if (!core_.config.maintenance || !of_its_mode(*group, join.last)) return;
  claimed(*group, join.group, join.last, record);
}

void LastMessages::on_join_ack(PeerRef from, const wire::JoinAck& ack) {
  const Group* group = core_.find(ack.group);
  if (!group || group->parent() != from) return;
  if (of_its_mode(*group, ack.last) && core_.last.heard_of(ack.group, ack.last)) {
    spread(*group, ack.group, ack.last);
  }
  if (state_ && state_->searches.contains(ack.group)) ask_parent(*group, ack.group);
}

void LastMessages::shut_down() {
  if (!state_) return;
  while (!state_->searches.empty()) finish(state_->searches.begin()->first, errc::shutting_down);
  state_->fetches.clear();
  state_->fetch_timers = {};
}

void LastMessages::collect_peers(std::vector<PeerRef>& in_use) const {
  if (!state_) return;
  for (const auto& [id, search] : state_->searches) {
    in_use.insert(in_use.end(), search.askers.begin(), search.askers.end());
  }
}

}  // namespace canopy::scribe
