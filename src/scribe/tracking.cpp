#include "scribe/tracking.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "base/rare.hpp"
#include "scribe/planted_bug.hpp"

namespace canopy::scribe {

namespace {

// A child that has all at once answers long before.
constexpr int ack_again_share = 2;  // of a heartbeat interval; doubles each time

// How long somebody above may still ask.
Duration remembered(std::uint32_t within_ms) {
  return std::chrono::milliseconds(std::uint64_t{within_ms} + within_ms / 7 + 1000);
}

// That may have passed here.
wire::Position latest_round(const Group& group) {
  return group.order ? group.order->stream.position() : group.tracked;
}

wire::Reach only_missing(PeerRef peer) {
  wire::Reach reach;
  miss(reach, peer);
  return reach;
}

}  // namespace

Tracking::Tracking(Core& core, Report report)
    : core_(core),
      report_(std::move(report)),
      room_(core.config.tracked_rounds_max, core.config.tracked_bytes_max) {}

TrackedRound* Tracking::find(const wire::MessageId& id) {
  const auto found = rounds_.find(id);
  return found == rounds_.end() ? nullptr : &found->second;
}

LostSubtrees& Tracking::lost_of(Group& group) {
  if (!group.lost) group.lost = std::make_unique<LostSubtrees>();
  return *group.lost;
}

// --- Rounds ---

void Tracking::begin(Group& group, const wire::Multicast& message, PeerRef asker, bool own,
                     bool has_it) {
  const MonoTime now = core_.now();
  const wire::Position round = round_of(message);
  if (message.epoch == 0) group.tracked = std::max(group.tracked, round);
  if (const auto before = rounds_.find(message.id); before != rounds_.end()) forget(before);
  if (!has_room_for(message.body)) {
    ++core_.counters.tracked_refused;
    wire::Reach reach = only_missing(core_.self);
    reach.members = has_it ? 1 : 0;
    if (asker) answer(asker, message, wire::TrackState::done, reach);
    return;
  }
  ++core_.counters.tracked_rounds;
  room_.take(message.body.size());
  const Duration within = std::chrono::milliseconds(message.tracking.within_ms);
  TrackedRound& begun = rounds_
                            .try_emplace(message.id, message, own, now + within,
                                         now + remembered(message.tracking.within_ms))
                            .first->second;
  begun.ask(asker);
  begun.reach.members = has_it ? 1 : 0;
  if (group.member && !has_it) miss(begun.reach, core_.self);
  note_lost(begun, group);
  await_children(begun, group, asker);
  if (begun.awaited().empty()) return finish(begun);
  begun.pause = core_.config.heartbeat_interval / ack_again_share;
  look_at(begun, now + begun.pause);
}

// All that get it now or, as those that catch up in an ordered group, later.
void Tracking::await_children(TrackedRound& round, const Group& group, PeerRef asker) {
  for (const Child& child : group.children) {
    const bool admitted = child.acknowledged || child.answered_for;
    const bool gets_it = admitted || (round.message().epoch == 0 && group.may_get(child));
    if (child.peer != asker && gets_it) round.await(child.peer);
  }
}

void Tracking::look_at(TrackedRound& round, MonoTime at) {
  if (!core_.config.maintenance) return;
  timers_.schedule(round.message().id, round.done() ? at : std::min(at, round.give_up_at()));
  core_.wake_at(timers_.next());
}

void Tracking::settle(TrackedRound& round) {
  if (!round.done() && round.awaited().empty()) finish(round);
}

void Tracking::note_lost(TrackedRound& round, const Group& group) {
  if (!group.lost) return;
  wire::Reach lost;
  group.lost->add_to(lost, round.round(), core_.now());
  round.note_lost(lost);
}

void Tracking::finish(TrackedRound& round) {
  const wire::Multicast& message = round.message();
  if (const Group* group = core_.find(message.group)) note_lost(round, *group);
  room_.give_back(message.body.size());
  room_.take(0);
  round.finish();
  look_at(round, round.forget_at());
  for (const PeerRef asker : round.askers()) answer(round, asker);
  if (round.publisher) report_(round);
}

void Tracking::forget(Rounds::iterator round) {
  timers_.cancel(round->first);
  room_.give_back(round->second.message().body.size());
  rounds_.erase(round);
}

void Tracking::ask_again(TrackedRound& round) {
  const wire::Multicast& message = round.message();
  wire::Multicast again = message;
  const auto left = round.give_up_at() - core_.now();
  again.tracking.within_ms =
      static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
  for (const PeerRef child : round.awaited()) {
    if (round.has_it(child)) {
      core_.send(child, wire::AckRequest{message.group, message.id, round.round()});
    } else {
      ++core_.counters.tracked_repeated;
      core_.neighbors.sent_to(child, core_.now());
      core_.send(child, again);
    }
  }
  round.pause *= 2;
  look_at(round, core_.now() + round.pause);
}

// --- Answers ---

void Tracking::answer(PeerRef to, const wire::Multicast& message, wire::TrackState state,
                      wire::Reach reach) {
  wire::MulticastAck ack{message.group, message.id, round_of(message), state, std::move(reach)};
  const Group* group = core_.find(message.group);
  if (message.epoch == 0 && group && group->tracked.epoch > ack.round.epoch) {
    ack.latest = group->tracked;
  }
  core_.send(to, std::move(ack));
}

void Tracking::answer(const TrackedRound& round, PeerRef asker) {
  if (round.done()) {
    answer(asker, round.message(), wire::TrackState::done, round.reach_for(asker));
  } else {
    answer(asker, round.message(), wire::TrackState::under_way);
  }
}

bool Tracking::repeated(PeerRef from, const wire::Multicast& message) {
  TrackedRound* round = find(message.id);
  if (!round || round->round() < round_of(message)) return false;
  if (round->round() == round_of(message)) {
    round->ask(from);
    answer(*round, from);
  } else {
    rare<"tracking: a later round overtakes an earlier">();
    passed_by(from, message);  // another root has begun a later round
  }
  return true;
}

void Tracking::refuse(PeerRef from, const wire::Multicast& message) {
  TrackedRound* round = find(message.id);
  if (round && round->round() == round_of(message)) {
    round->ask(from);
    answer(*round, from);
  } else {
    answer(from, message, wire::TrackState::stranger);
  }
}

void Tracking::passed_by(PeerRef from, const wire::Multicast& message) {
  answer(from, message, wire::TrackState::done, only_missing(core_.self));
}

void Tracking::not_yet(PeerRef from, const wire::Multicast& message) {
  answer(from, message, wire::TrackState::under_way);
}

void Tracking::on_request(PeerRef from, const wire::AckRequest& request) {
  TrackedRound* round = find(request.id);
  if (round && round->round() == request.round) {
    round->ask(from);
    answer(*round, from);
  } else {
    core_.send(from, wire::MulticastAck{
                         request.group, request.id, request.round, wire::TrackState::missing, {}});
  }
}

void Tracking::on_ack(PeerRef from, const wire::MulticastAck& ack) {
  TrackedRound* round = find(ack.id);
  if (!round || round->done() || round->round() != ack.round) return;
  Group* group = core_.find(ack.group);
  if (!round->awaits(from)) {
    rare<"tracking: an ack of one that is not waited for">();
    // It has become a child since, or was given up too early.
    if (ack.state != wire::TrackState::done || !group || !group->children.contains(from)) return;
    if (round->count_once(from)) round->reach.members += ack.reach.members;
    return;
  }
  if (group && !group->order) group->tracked = std::max(group->tracked, ack.latest);
  switch (ack.state) {
    case wire::TrackState::under_way: return round->has_it(from, true);
    case wire::TrackState::missing: return round->has_it(from, false);
    case wire::TrackState::stranger: {
      rare<"tracking: a child says that it is none">();
      // What it has answered for, if it has left, is among the lost by now.
      const bool child = group && group->children.contains(from);
      if (child) miss(round->reach, from);
      break;
    }
    case wire::TrackState::done:
      round->count_once(from);
      add(round->reach, from, ack.reach);
      break;
  }
  round->answered(from);
  settle(*round);
}

// --- Lost subtrees ---

// Rounds that are under way have passed it, though it may have been missing elsewhere
// then: what it was inherited for still counts.
void Tracking::child_taken(Group& group, PeerRef child) {
  if (group.lost) group.lost->bound(child, latest_round(group));
}

void Tracking::child_lost(Group& group, const Id& id, PeerRef child) {
  lost_of(group).expire(core_.now());
  if (planted_bug != PlantedBug::lost_forgotten) lost_of(group).lost(child, expiry());
  for (auto& [message, round] : rounds_) {
    if (round.done() || round.message().group != id || !round.awaits(child)) continue;
    ++core_.counters.tracked_given_up;
    round.give_up(child);
    settle(round);
  }
}

// A child that has left since it was sent the message: where its own are has been told
// by its Leave, and what it was sent after that it has not read.
void Tracking::peer_failed(PeerRef peer) {
  for (auto& [message, round] : rounds_) {
    if (round.done() || !round.awaits(peer)) continue;
    rare<"tracking: a former child departs without an answer">();
    round.answered(peer);
    settle(round);
  }
}

void Tracking::child_left(Group& group, PeerRef child, const wire::Leave& leave) {
  switch (leave.reason) {
    case wire::LeaveReason::gone:
      if (group.lost) group.lost->settled(child);
      if (!leave.lost.empty()) inherit(group, leave.lost);
      break;
    case wire::LeaveReason::moved:
      if (leave.since || group.lost) lost_of(group).moved(child, leave.since, expiry());
      break;
    case wire::LeaveReason::orphaned: lost_of(group).lost(child, expiry()); break;
  }
}

// With the group goes what is known of lost subtrees.
void Tracking::leaves_tree(const Group& group, const Id& id) {
  for (auto& [message, round] : rounds_) {
    if (!round.done() && round.message().group == id) note_lost(round, group);
  }
}

// Some may have become children of this node before it heard that they were lost.
void Tracking::inherit(Group& group, const std::vector<wire::LostSubtree>& left) {
  const MonoTime now = core_.now();
  LostSubtrees& lost = lost_of(group);
  lost.expire(now);
  lost.inherit(left, now, expiry());
  for (const Child& child : group.children) {
    if (child.answered_for) child_taken(group, child.peer);
  }
}

void Tracking::root_lost(Group& group, PeerRef root) { root_lost(group, root, expiry()); }

void Tracking::root_lost(Group& group, PeerRef root, MonoTime until) {
  lost_of(group).root_lost(root == core_.self ? PeerRef{} : root, until);
}

// --- At the root ---

wire::Position Tracking::next_round(Group& group) {
  CANOPY_ASSERT(!overtaken(group));
  ++group.issued_round.sequence;
  return group.issued_round;
}

bool Tracking::is_own(const wire::MessageId& id) const {
  const auto found = rounds_.find(id);
  return found != rounds_.end() && found->second.own();
}

std::optional<wire::Reach> Tracking::result_for(const wire::Publish& publish) {
  TrackedRound* round = find(publish.id);
  if (!round || !round->own()) return std::nullopt;
  if (round->done()) return round->reach;
  round->publisher = publish.origin;
  return std::nullopt;
}

// --- Time ---

bool Tracking::waiting() const {
  return std::ranges::any_of(rounds_, [](const auto& entry) { return !entry.second.done(); });
}

void Tracking::give_up_all() {
  for (auto& [id, round] : rounds_) {
    while (!round.awaited().empty()) round.give_up(round.awaited().front());
    settle(round);
  }
}

void Tracking::tick() {
  for (const wire::MessageId& id : timers_.take_due(core_.now())) {
    const auto entry = rounds_.find(id);
    if (entry == rounds_.end()) continue;
    TrackedRound& round = entry->second;
    if (round.done()) {
      forget(entry);
    } else if (core_.now() < round.give_up_at()) {
      ask_again(round);
    } else {
      core_.counters.tracked_given_up += round.awaited().size();
      while (!round.awaited().empty()) round.give_up(round.awaited().front());
      finish(round);
    }
  }
}

void Tracking::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [id, round] : rounds_) {
    in_use.insert(in_use.end(), round.awaited().begin(), round.awaited().end());
    in_use.insert(in_use.end(), round.askers().begin(), round.askers().end());
    in_use.insert(in_use.end(), round.reach.unreachable.begin(), round.reach.unreachable.end());
    in_use.insert(in_use.end(), round.lost.unreachable.begin(), round.lost.unreachable.end());
    if (round.publisher) in_use.push_back(round.publisher);
    if (round.message().asking.asker) in_use.push_back(round.message().asking.asker);
  }
}

}  // namespace canopy::scribe
