#include "scribe/last_messages.hpp"

#include <algorithm>
#include <utility>

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
// Epochs of an order are larger than any reign (sequencer.hpp).
bool of_its_mode(const Group& group, const wire::Position& stamp) {
  return !stamp || (group.order != nullptr) == (stamp.epoch >> 32 != 0);
}

bool acceptable(const Group& group, PeerRef from, const RootRecord* record) {
  if (group.parent() == from || group.children.contains(from)) return true;
  return group.serves_as_root() && record && record->given_by == from;
}

}  // namespace

// --- Asking ---

void LastMessages::ask(const Id& id, LastCompletion done) {
  const Group* group = core_.find(id);
  if (group && !core_.last.find(id)) {
    search(*group, id).users.push_back(std::move(done));
    return;
  }
  std::optional<wire::Multicast> message;
  if (group) message = multicast_of(*core_.last.find(id));
  core_.upcalls.call([done = std::move(done), message] { done(message); });
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
    const bool later_elsewhere = core_.last.newest(id) != wire::Position{};
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
      finish(id);
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
void LastMessages::finish(const Id& id) {
  if (!state_) return;
  auto search = state_->searches.extract(id);
  if (!search) return;
  state_->timers.cancel(id);
  // A later one than what is here cannot be had: then what is here is the last.
  if (!core_.last.find(id)) core_.last.disbelieve(id);
  for (const PeerRef asker : search.mapped().askers) give(asker, id);
  std::optional<wire::Multicast> message;
  if (const auto kept = core_.last.find(id)) message = multicast_of(*kept);
  for (LastCompletion& done : search.mapped().users) {
    core_.upcalls.call([done = std::move(done), message] { done(message); });
  }
}

// --- What children have ---

void LastMessages::fetch(const Id& id) {
  if (planted_bug == PlantedBug::last_not_fetched) return;
  if (!state().fetches.try_emplace(id, 0).second) return;
  state_->fetch_timers.schedule(id, core_.now());
  core_.wake_at(core_.now());
}

void LastMessages::ask_children(const Id& id) {
  const Group* group = core_.find(id);
  unsigned& attempts = state_->fetches.at(id);
  if (!group || core_.last.find(id) || attempts == fetches_max) {
    state_->fetches.erase(id);
    return;
  }
  if (group->in_tree()) {
    ++attempts;
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
  if (core_.last.find(request.group)) return give(from, request.group);
  if (!from_child) return;  // whoever is below passes it up once it is here
  wire::Peers& askers = search(*group, request.group).askers;
  if (std::ranges::find(askers, from) == askers.end()) askers.push_back(from);
}

void LastMessages::on_reply(PeerRef from, const wire::LastReply& reply, const RootRecord* record) {
  const Id& id = reply.group;
  const Group* group = core_.find(id);
  if (!group || !acceptable(*group, from, record) || !of_its_mode(*group, reply.stamp)) {
    ++core_.counters.strays_dropped;
    return;
  }
  if (reply.body.size() > core_.config.body_max) {
    ++core_.counters.limits_met;
    return;
  }
  const bool from_parent = group->parent() == from;
  if (reply.hint) {
    if (from_parent && core_.last.heard_of(id, reply.stamp)) spread(*group, reply, from);
  } else if (reply.found) {
    if (core_.last.wants(reply)) {
      core_.passed(multicast_of(reply));
      if (!from_parent && group->parent()) core_.send(group->parent(), reply);
      if (!from_parent) spread(*group, reply, from);
    }
    finish(id);
  } else if (from_parent) {
    finish(id);
  }
}

// Children are told that there is a later one.
void LastMessages::spread(const Group& group, const wire::LastReply& reply, PeerRef from) {
  wire::LastReply hint;
  hint.group = reply.group;
  hint.stamp = reply.stamp;
  hint.hint = true;
  if (!hint.stamp) return;
  for (const Child& child : group.children) {
    if (child.acknowledged && child.peer != from) core_.send(child.peer, hint);
  }
}

void LastMessages::on_join(const wire::GroupJoin& join) {
  const Group* group = core_.find(join.group);
  if (!group || !group->children.contains(join.child)) return;
  if (!core_.config.maintenance || !of_its_mode(*group, join.last)) return;
  if (core_.last.heard_of(join.group, join.last)) fetch(join.group);
}

void LastMessages::on_join_ack(PeerRef from, const wire::JoinAck& ack) {
  const Group* group = core_.find(ack.group);
  if (!group || group->parent() != from) return;
  if (of_its_mode(*group, ack.last) && core_.last.heard_of(ack.group, ack.last)) {
    wire::LastReply known;
    known.group = ack.group;
    known.stamp = ack.last;
    spread(*group, known, from);
  }
  if (state_ && state_->searches.contains(ack.group)) ask_parent(*group, ack.group);
}

void LastMessages::collect_peers(std::vector<PeerRef>& in_use) const {
  if (!state_) return;
  for (const auto& [id, search] : state_->searches) {
    in_use.insert(in_use.end(), search.askers.begin(), search.askers.end());
  }
}

}  // namespace canopy::scribe
