#include "scribe/dissemination.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <canopy/error.hpp>

#include "base/rare.hpp"
#include "scribe/group_name.hpp"
#include "scribe/ordering.hpp"
#include "scribe/roots.hpp"
#include "scribe/time_left.hpp"
#include "scribe/tracking.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

namespace {

constexpr int poll_share = 2;  // of the time that a request has

// An old child is forgotten after the expiry period, so that nobody waits longer.
Duration tracked_time(const Config& config, Duration wished) {
  const Duration time = wished == Duration::zero() ? config.tracked_timeout : wished;
  return std::clamp<Duration>(time, std::chrono::milliseconds(1), config.child_expiry);
}

// Nobody knows whether the message arrives.
bool is_in_doubt(errc error) {
  return error == errc::timed_out || error == errc::lost_root || error == errc::shutting_down;
}

}  // namespace

Dissemination::Dissemination(Core& core, Roots& roots, Tree& tree, Ordering& ordering,
                             Tracking& tracking)
    : core_(core),
      roots_(roots),
      tree_(tree),
      ordering_(ordering),
      tracking_(tracking),
      pending_(core.config.pending_publishes_max, core.config.pending_bytes_max),
      roots_known_(core.config.root_cache_max) {}

// --- At the publisher ---

wire::MessageId Dissemination::publish(const wire::GroupName& name, wire::AckMode ack, Buffer body,
                                       PublishCompletion done, const PublishTerms& terms) {
  const auto complete = [&](const PublishOutcome& outcome) {
    core_.upcalls.call([done = std::move(done), outcome] { done(outcome); });
  };
  const errc error = chains_.is_broken(terms.chain) ? errc::chain_broken : refusal(name, ack, body);
  if (error != errc{}) {
    chains_.break_at(terms.chain);
    PublishOutcome outcome;
    outcome.error = error;
    complete(outcome);
    return {};
  }
  const bool waits = ack != wire::AckMode::none;
  const bool room = pending_.has_room_for(body);
  ++core_.counters.publishes;
  const Id group = group_id(name, core_.pastry.config().id_bits);
  wire::Publish message{
      group,           name, core_.next_message_id(),
      core_.self,      ack,  0,
      std::move(body), 0,    core_.access.prove(group, wire::Right::publish, terms.key)};
  if (terms.replies_until != MonoTime{}) {
    message.reply_within_ms = scribe::time_left(terms.replies_until, core_.now());
  }
  const std::uint64_t sequence = message.id.sequence;
  message.after = pending_.last_before(group, sequence);
  const CachedRoot* cached = roots_known_.use(group);
  const PeerRef root = cached ? cached->root : PeerRef{};
  const MonoTime now = core_.now();
  const bool in_doubt = core_.config.maintenance && room && doubtful(group, cached, message.after);
  const bool in_line = (waits || in_doubt) && lines_.any(group);
  PublishOutcome outcome;
  outcome.id = message.id;
  outcome.root = root;
  if (!waits) complete(outcome);
  if (waits || in_doubt) {
    const bool tracked = ack == wire::AckMode::members;
    if (!tracked) message.ack = wire::AckMode::root;
    const Duration time =
        tracked ? tracked_time(core_.config, terms.within) : core_.config.request_timeout;
    PendingPublish pending{.message = message,
                           .done = waits ? std::move(done) : PublishCompletion{},
                           .sent_to = root,
                           .line_until = now + time,
                           .deadline = now + time,
                           .time = time,
                           .replies_until = terms.replies_until,
                           .chain = terms.chain};
    if (tracked) message.within_ms = pending.message.within_ms = time_left(pending);
    const MonoTime look_at = !core_.config.maintenance ? never
                             : in_line                 ? pending.line_until
                                                       : now + core_.config.request_retry_interval;
    pending_.add(sequence, std::move(pending), look_at);
    core_.wake_at(look_at);
  }
  if (in_line) {
    lines_.add(group, sequence);
  } else {
    send(message, root);
  }
  return message.id;
}

errc Dissemination::refusal(const wire::GroupName& name, wire::AckMode ack,
                            const Buffer& body) const {
  if (core_.departing) return errc::shutting_down;
  if (!core_.pastry.active()) return errc::not_active;
  if (!valid_name(name)) return errc::bad_name;
  if (!acceptable(body)) return errc::too_large;
  if (pending_.has_room_for(body)) return {};
  // One that nobody waits for needs no room, but is not to overtake a line.
  const bool in_line = lines_.any(group_id(name, core_.pastry.config().id_bits));
  return ack != wire::AckMode::none || in_line ? errc::queue_full : errc{};
}

// Whether the root's word is wanted, though the user does not ask for it. In an
// ordered group also while an earlier message may have to be sent again: else
// this one would overtake it.
bool Dissemination::doubtful(const Id& id, const CachedRoot* cached, std::uint64_t after) const {
  if (lines_.any(id)) return true;
  const Group* group = core_.find(id);
  if (group && group->serves_as_root()) return false;
  if (!cached || core_.now() - cached->confirmed > core_.config.heartbeat_interval) return true;
  return cached->ordered && after != 0;
}

void Dissemination::send(const wire::Publish& publish, PeerRef root) {
  const Group* group = core_.find(publish.group);
  if (group && group->serves_as_root()) {
    serve(publish, Way::direct);
  } else if (root && root != core_.self && !core_.pastry.suspected(root)) {
    core_.send(root, publish);
  } else {
    core_.pastry.route(publish.group, publish);
  }
}

std::uint32_t Dissemination::time_left(const PendingPublish& pending) const {
  return scribe::time_left(pending.deadline, core_.now());
}

// The same id, by routing: the root that was cached may be no more.
void Dissemination::send_again(std::uint64_t sequence) {
  PendingPublish* pending = pending_.find(sequence);
  if (!pending) return;
  ++core_.counters.publish_retries;
  const bool turn = lines_.waits(pending->message.group, sequence);
  if (turn) pending->deadline = core_.now() + pending->time;
  const bool polls = pending->placed.has_value();
  if (pending->sent_to && !polls) {
    roots_known_.forget(pending->message.group, pending->sent_to);
    pending->sent_to = {};
  }
  // What has its place gets no other from a root that has taken over since and does
  // not know it: it is to come after itself.
  const bool has_place = pending->overtaken || (polls && pending->placed->ordered);
  pending->message.after =
      has_place ? sequence : pending_.last_before(pending->message.group, sequence);
  if (pending->message.within_ms != 0) pending->message.within_ms = time_left(*pending);
  if (pending->message.reply_within_ms != 0) {
    pending->message.reply_within_ms = scribe::time_left(pending->replies_until, core_.now());
  }
  const Duration pause =
      polls ? core_.config.request_timeout / poll_share : core_.config.request_retry_interval;
  const MonoTime next = core_.now() + pause;
  pending_.look_again(sequence, std::min(next, pending->deadline));
  core_.wake_at(pending_.next_deadline());
  const wire::Publish message = pending->message;  // the ack may come within the call
  if (turn) {
    lines_.take_turn(message.group, sequence);
    const CachedRoot* cached = roots_known_.use(message.group);
    send(message, cached ? cached->root : PeerRef{});
  } else {
    core_.pastry.route(message.group, message);
  }
}

void Dissemination::finish(std::uint64_t sequence, const wire::PublishAck& ack) {
  const auto pending = conclude(sequence, ack);
  if (!pending) return;
  const Id group = pending->message.group;
  const auto error = static_cast<errc>(ack.error);
  if (error == errc::limit) {
    refuse_behind(group, sequence, ack);
  } else if (error != errc{}) {
    fail_behind(*pending, sequence, error);
  }
  leave_line(group, sequence);
}

std::optional<PendingPublish> Dissemination::conclude(std::uint64_t sequence,
                                                      const wire::PublishAck& ack) {
  auto pending = pending_.take(sequence);
  if (!pending || !pending->done) return pending;
  if (ack.error != 0) chains_.break_at(pending->chain);
  tell(*pending, ack);
  return pending;
}

void Dissemination::tell(PendingPublish& pending, const wire::PublishAck& ack) {
  PublishOutcome outcome;
  if (ack.error != 0) outcome.error = static_cast<errc>(ack.error);
  outcome.id = pending.message.id;
  outcome.root = ack.root;
  outcome.epoch = ack.epoch;
  outcome.sequence = ack.sequence;
  outcome.reach = ack.reach;
  outcome.retry_after = std::chrono::milliseconds(ack.retry_after_ms);
  // A root that does not track it says nothing of anybody.
  const bool tracked = pending.message.ack == wire::AckMode::members;
  if (tracked && !ack.reach.complete && nothing_missed(ack.reach)) miss_unnamed(outcome.reach, 1);
  core_.upcalls.call([done = std::move(pending.done), outcome] { done(outcome); });
}

void Dissemination::on_publish_ack(PeerRef, const wire::PublishAck& ack) {
  const PeerDescriptor& self = core_.env.peers()[core_.self];
  if (ack.id.publisher != self.id || ack.id.incarnation != self.incarnation) return;
  take_answer(ack);
}

void Dissemination::take_answer(const wire::PublishAck& ack) {
  PendingPublish* pending = pending_.find(ack.id.sequence);
  if (!pending) return;
  if (ack.root && ack.error == 0 && ack.root != core_.self) {
    roots_known_.set(pending->message.group, ack.root, core_.now(), ack.ordered);
  }
  if (ack.ordered && ack.error == 0) mark_overtaken(pending->message.after);
  if (ack.retry_after_ms != 0 && back_off(*pending, ack)) return;
  if (!ack.pending) return finish(ack.id.sequence, ack);
  if (pending->message.ack == wire::AckMode::members) wait_on(*pending, ack);
}

// Too fast for the root: the message waits here, as long as somebody waits for it, and
// so do those after it.
bool Dissemination::back_off(PendingPublish& pending, const wire::PublishAck& ack) {
  if (!core_.config.maintenance || ack.error != static_cast<std::uint16_t>(errc::limit)) {
    return false;
  }
  const Id group = pending.message.group;
  const std::uint64_t sequence = ack.id.sequence;
  const Duration wait = std::chrono::milliseconds(ack.retry_after_ms);
  const MonoTime again = core_.now() + core_.env.random().jittered(wait + wait / 8, 0.1);
  if (!pending.placed) {
    if (again >= pending.line_until || pending.last_try) return false;
    lines_.refuse(group, sequence, {ack.ordered, ack.retry_after_ms});
  }
  pending.sent_to = {};
  const MonoTime end = pending.placed ? pending.deadline : pending.line_until;
  const bool turn = pending.placed || lines_.is_next(group, sequence);
  pending_.look_again(sequence, turn ? std::min(again, end) : end);
  core_.wake_at(pending_.next_deadline());
  return true;
}

// One that has its place makes room for two: what the root takes at a time is found
// out like this.
void Dissemination::leave_line(const Id& group, std::uint64_t sequence) {
  if (!lines_.leave(group, sequence)) return;
  for (const std::uint64_t next : lines_.next(group, 2)) pending_.look_again(next, core_.now());
  core_.wake_at(pending_.next_deadline());
}

// A publisher that is refused a message can send it again without later ones having
// overtaken it: those have the same answer. What may be at the root of a best-effort
// group waits for its word, and is not sent again.
void Dissemination::refuse_behind(const Id& group, std::uint64_t sequence,
                                  const wire::PublishAck& ack) {
  for (const std::uint64_t later : pending_.after(group, sequence)) {
    if (ack.ordered || lines_.waits(group, later)) {
      lines_.leave(group, later);
      conclude(later, ack);
    } else {
      pending_.find(later)->last_try = true;
    }
  }
}

// Those of its chain. Nobody knows whether one that has been sent arrives, but sent again
// it would have a place without the one before it; unless that was refused: then its own
// answer is on the way.
void Dissemination::fail_behind(const PendingPublish& failed, std::uint64_t sequence, errc error) {
  if (!chains_.is_broken(failed.chain)) return;
  const Id& group = failed.message.group;
  const bool refused = !is_in_doubt(error);
  for (const std::uint64_t later : pending_.after(group, sequence)) {
    const PendingPublish& pending = *pending_.find(later);
    const bool sent = !lines_.waits(group, later);
    if (pending.chain != failed.chain || (sent && refused)) continue;
    const errc told = sent ? error : errc::chain_broken;
    lines_.leave(group, later);
    conclude(later, {pending.message.id, static_cast<std::uint16_t>(told)});
  }
}

// The root gives a message its place once it knows the one that it comes after: so
// that has its place as well, though word of it got lost.
void Dissemination::mark_overtaken(std::uint64_t sequence) {
  for (PendingPublish* pending = pending_.find(sequence); pending && !pending->overtaken;
       pending = pending_.find(pending->message.after)) {
    pending->overtaken = true;
  }
}

// The root has it.
void Dissemination::wait_on(PendingPublish& pending, const wire::PublishAck& ack) {
  leave_line(pending.message.group, ack.id.sequence);
  pending.placed = ack;
  pending.rerouted = false;
  pending.sent_to = ack.root == core_.self ? PeerRef{} : ack.root;
  const MonoTime next = core_.now() + core_.config.request_timeout / poll_share;
  pending_.look_again(ack.id.sequence, std::min(next, pending.deadline));
  core_.wake_at(pending_.next_deadline());
}

void Dissemination::on_root_address(const wire::RootAddress& address) {
  if (address.root && address.root != core_.self) {
    roots_known_.set(address.group, address.root, core_.now());
  }
}

void Dissemination::peer_failed(PeerRef peer) {
  for (const std::uint64_t sequence : pending_.sent_to(peer)) {
    PendingPublish& pending = *pending_.find(sequence);
    pending.root_failed = true;
    // Whoever is the root now may not have it. But in an order its place counts, even
    // if it got lost with that root: another one would be behind later messages.
    if (pending.placed && !pending.placed->ordered) pending.placed.reset();
  }
  avoid(peer);
}

void Dissemination::avoid(PeerRef peer) {
  roots_known_.forget_peer(peer);
  if (!core_.config.maintenance) return;
  for (const std::uint64_t sequence : pending_.sent_to(peer)) {
    // The way may lead to it yet, and each that is refused would bring all of them here again.
    PendingPublish* pending = pending_.find(sequence);
    // Another's retry has ended it, or its own time has, and it is about to be told.
    if (!pending || is_over(*pending, sequence)) continue;
    if (!pending->placed || !std::exchange(pending->rerouted, true)) send_again(sequence);
  }
}

void Dissemination::tick() {
  for (const Id& id : loss_timers_.take_due(core_.now())) {
    Group* group = core_.find(id);
    if (group && group->losses) tell_losses(*group, id);
  }
  for (const std::uint64_t sequence : pending_.take_due(core_.now())) review(sequence);
}

bool Dissemination::is_over(const PendingPublish& pending, std::uint64_t sequence) const {
  const bool waits = lines_.waits(pending.message.group, sequence);
  return core_.now() >= (waits ? pending.line_until : pending.deadline);
}

void Dissemination::review(std::uint64_t sequence) {
  const PendingPublish* pending = pending_.find(sequence);
  if (!pending) return;  // another's retry has ended it
  const Id& group = pending->message.group;
  if (is_over(*pending, sequence)) {
    give_up(*pending, sequence);
  } else if (lines_.waits(group, sequence) && !lines_.is_next(group, sequence)) {
    pending_.look_again(sequence, pending->line_until);
  } else {
    send_again(sequence);
  }
}

void Dissemination::give_up(const PendingPublish& pending, std::uint64_t sequence) {
  wire::PublishAck result{pending.message.id};
  if (pending.placed) {
    result = *pending.placed;
    result.pending = false;
  } else if (lines_.waits(pending.message.group, sequence)) {
    const auto [ordered, retry_after_ms] = lines_.refusal(pending.message.group);
    result.error = static_cast<std::uint16_t>(errc::limit);
    result.ordered = ordered;
    result.retry_after_ms = retry_after_ms;
  } else {
    const errc error = pending.root_failed ? errc::lost_root : errc::timed_out;
    result.error = static_cast<std::uint16_t>(error);
  }
  finish(sequence, result);
}

void Dissemination::shut_down() {
  for (const std::uint64_t sequence : pending_.all()) {
    finish(sequence, {{}, static_cast<std::uint16_t>(errc::shutting_down)});
  }
}

// --- At the root ---

void Dissemination::serve(const wire::Publish& publish, Way way) {
  Group* group = core_.find(publish.group);
  if (*group->name() != publish.name) return acknowledge(publish, errc::name_conflict, way);
  if (roots_.hold_in_doubt(publish.group, publish)) return;
  if (may_publish(publish, way)) serve_allowed(publish, way);
}

// Else it has said so, or counted what nobody asks about. What has been let through
// once is asked about as often as its publisher likes.
bool Dissemination::may_publish(const wire::Publish& publish, Way way) {
  const Group* group = core_.find(publish.group);
  const wire::AccessRef list = group->list();
  const bool open = grant_of(list, wire::Right::publish).everybody;
  if (open && !core_.access.limits_rates()) return true;
  if (group->order ? group->order->has(publish) : group->has_seen(publish.id)) return true;
  const Duration wait =
      core_.access.wait_to_publish(publish.origin, publish.id, publish.body.size());
  if (wait != Duration::zero()) {
    ++core_.counters.publishes_over_rate;
    acknowledge(publish, errc::limit, way, {}, wait);
    return false;
  }
  if (!core_.access.allows(list, wire::Right::publish, publish.group, publish.origin,
                           publish.proof)) {
    ++core_.counters.publishes_denied;
    acknowledge(publish, errc::denied, way);
    return false;
  }
  return true;
}

void Dissemination::serve_allowed(const wire::Publish& publish, Way way) {
  Group* group = core_.find(publish.group);
  const bool tracked = publish.ack == wire::AckMode::members;
  if (tracked && tracking_.is_own(publish.id)) return acknowledge(publish, {}, way);
  if (tracked && !tracking_.has_room_for(publish.body)) {
    // The answer then says of nobody that he has it.
    ++core_.counters.tracked_refused;
    wire::Publish untracked = publish;
    untracked.ack = wire::AckMode::root;
    return serve_allowed(untracked, way);
  }
  const bool handing_over = group->standing() == Standing::handing_over;
  if (tracked && !handing_over && !Ordering::serves(*group) && Tracking::overtaken(*group)) {
    roots_.renew_epoch(publish.group);
  }
  if (Ordering::serves(*group)) return ordering_.serve(*group, publish.group, publish);
  const bool fresh = group->first_sight(publish.id, window_of(*group));
  if (!fresh) ++core_.counters.duplicates_dropped;
  const bool asks = tracked && !handing_over;
  if (fresh || asks) {
    wire::Multicast message;
    message.group = publish.group;
    message.id = publish.id;
    const PeerDescriptor& self = core_.env.peers()[core_.self];
    message.reign = roots_.record(publish.group)->state.epoch;
    if (std::exchange(group->multicasts_epoch, message.reign) != message.reign) {
      group->multicasts = 0;
    }
    message.sequence = loss_number(self.id, self.incarnation, message.reign, ++group->multicasts);
    message.body = publish.body;
    message.asking = asking_of(publish);
    if (asks) {
      message.tracking = {time_below(core_.config, publish.within_ms),
                          Tracking::next_round(*group)};
      tracking_.begin(*group, message, {}, true, group->member);
    }
    spread(message, *group, {}, fresh);
  }
  if (handing_over && (fresh || tracked)) {
    // The new root may have children of its own by now; it answers as well.
    core_.send(roots_.record(publish.group)->successor, publish);
  } else {
    acknowledge(publish, {}, way);
  }
}

void Dissemination::placed(const wire::Publish& publish, const wire::Position& position) {
  acknowledge(publish, {}, Way::direct, position);
}

void Dissemination::acknowledge(const wire::Publish& publish, boost::system::error_code error,
                                Way way, const wire::Position& position, Duration retry_after) {
  if (publish.ack != wire::AckMode::none) {
    wire::PublishAck ack;
    ack.id = publish.id;
    ack.error = static_cast<std::uint16_t>(error.value());
    ack.root = core_.self;
    const Group* group = core_.find(publish.group);
    ack.ordered = group && Ordering::serves(*group);
    ack.epoch = position.epoch;
    ack.sequence = position.sequence;
    ack.retry_after_ms = static_cast<std::uint32_t>(
        std::chrono::ceil<std::chrono::milliseconds>(retry_after).count());
    if (publish.ack == wire::AckMode::members && !error) {
      const auto result = tracking_.result_for(publish);
      ack.pending = !result;
      if (result) ack.reach = *result;
    }
    answer(publish.origin, ack);
  } else if (!error && way == Way::routed && publish.origin != core_.self) {
    core_.send(publish.origin, wire::RootAddress{publish.group, core_.self});
  }
}

void Dissemination::answer(PeerRef origin, const wire::PublishAck& ack) {
  if (origin == core_.self) {
    take_answer(ack);
  } else {
    core_.send(origin, ack);
  }
}

void Dissemination::report(const TrackedRound& round) {
  const wire::Multicast& message = round.message();
  wire::PublishAck ack;
  ack.id = message.id;
  ack.root = core_.self;
  ack.ordered = message.epoch != 0;
  if (ack.ordered) {
    ack.epoch = message.epoch;
    ack.sequence = message.sequence;
  }
  ack.reach = round.reach;
  answer(round.publisher, ack);
}

void Dissemination::refuse_unknown(const wire::Publish& publish) {
  ++core_.counters.publishes_unknown_group;
  acknowledge(publish, errc::no_such_group, Way::routed);
}

// Of all near this node; who is no more than the next hop may be far from the root.
bool Dissemination::is_closest(PeerRef peer, const Id& group) const {
  return core_.pastry.closest(group, 1).front() == peer;
}

// Leases are not asked for here. They keep others from becoming the root too early; one
// that serves already would only make publishers pause whenever a neighbour hangs. If it
// was stopped itself, it is in doubt; if it was given up wrongly, epochs tell the two
// roots apart.
void Dissemination::on_direct_publish(PeerRef from, const wire::Publish& publish) {
  const Group* group = core_.find(publish.group);
  if (group && group->serves_as_root()) return serve(publish, Way::direct);
  ++core_.counters.publishes_forwarded;
  const PeerRef next = core_.pastry.next_hop(publish.group);
  if (next == from && next && !core_.departing && is_closest(from, publish.group)) {
    rare<"publishing: a root that departs passes on what came to it">();
    // The root itself sends it here: it departs, and its state is on the way.
    if (roots_.serve_or_hold(publish.group, publish)) serve(publish, Way::direct);
  } else {
    core_.pastry.route(publish.group, publish);
  }
}

// --- At tree nodes ---

void Dissemination::on_multicast(PeerRef from, const wire::Multicast& message) {
  if (message.epoch != 0) return ordering_.on_item(from, message);
  const bool tracked = message.tracking.within_ms != 0;
  Group* group = core_.find(message.group);
  const SenderVerdict verdict = group ? group->judge(from, core_.now()) : SenderVerdict::stray;
  if (verdict == SenderVerdict::stray) {
    ++core_.counters.strays_dropped;
    tree_.answer_stray(from, message.group);
    if (tracked) tracking_.refuse(from, message);
    return;
  }
  core_.neighbors.heard_from_parent(from, core_.now());
  if (from == group->parent()) ordering_.drop(*group, message.group);
  // What a former parent sends late may have been here already, and is forgotten.
  const bool forgotten = group->in_tree() && from != group->parent() &&
                         group->seen_since_attached() >= window_of(*group) &&
                         !group->has_seen(message.id);
  if (group->member && message.sequence != 0 && !forgotten) {
    note(*group, message.group, message.sequence);
  }
  const bool fresh = !forgotten && group->first_sight(message.id, window_of(*group));
  tree_.on_multicast(*group, message.group, from, fresh);
  if (!fresh) ++core_.counters.duplicates_dropped;
  const bool asks = tracked && !tracking_.repeated(from, message);
  if (forgotten) {
    if (asks) tracking_.passed_by(from, message);
    return;
  }
  if (asks) tracking_.begin(*group, message, from, false, group->member);
  if (fresh || asks) spread(message, *group, from, fresh);
}

void Dissemination::note(Group& group, const Id& id, std::uint64_t number) {
  if (!group.losses) group.losses = std::make_unique<LossMeter>();
  group.losses->note(number, core_.now());
  if (!core_.config.maintenance || loss_timers_.contains(id)) return;
  const MonoTime oldest = group.losses->oldest();
  if (oldest == never) return;
  loss_timers_.schedule(id, oldest + loss_patience());
  core_.wake_at(loss_timers_.next());
}

void Dissemination::tell_losses(Group& group, const Id& id) {
  const std::uint64_t lost = group.losses->take_lost(core_.now() - loss_patience());
  core_.counters.multicasts_missed += lost;
  if (lost != 0) core_.upcalls.lost(id, lost);
  const MonoTime oldest = group.losses->oldest();
  if (oldest != never) loss_timers_.schedule(id, oldest + loss_patience());
}

// A later round goes the same way; who was a member then has had the message.
void Dissemination::spread(const wire::Multicast& message, Group& group, PeerRef except,
                           bool fresh) {
  for (const Child& child : group.children) {
    if (child.peer == except || !group.may_get(child)) continue;
    ++core_.counters.multicasts_sent;
    core_.neighbors.sent_to(child.peer, core_.now());
    core_.send(child.peer, message);
  }
  if (fresh) core_.passed(message);
  if (fresh ? group.member : group.new_to_member(message.id)) {
    ++core_.counters.multicasts_delivered;
    core_.upcalls.multicast(message);
  }
}

std::size_t Dissemination::window_of(const Group& group) const {
  return group.serves_as_root() ? core_.config.duplicate_window
                                : core_.config.tree_duplicate_window;
}

void Dissemination::collect_peers(std::vector<PeerRef>& in_use) const {
  pending_.collect_peers(in_use);
  roots_known_.collect_peers(in_use);
}

}  // namespace canopy::scribe
