#include "scribe/ordering.hpp"

#include <algorithm>
#include <utility>

#include "base/rare.hpp"
#include "scribe/planted_bug.hpp"
#include "scribe/roots.hpp"
#include "scribe/tracking.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

namespace {

// A hole may be nothing but two messages that have changed places.
constexpr int ask_delay_share = 20;  // of a heartbeat interval
constexpr int ask_again_share = 2;
// One answer takes no link's whole room.
constexpr std::size_t batch_items = 1024;
constexpr std::size_t batch_bytes = std::size_t{1} << 20;
constexpr Duration batch_pace = std::chrono::milliseconds(20);
// After a group has fallen quiet, at doubling distances.
constexpr int remind_share = 2;
constexpr unsigned reminders_max = 5;

// Nothing if nobody asks who has it.
const wire::Multicast* tracked(const OrderItem& item) noexcept {
  const auto* multicast = std::get_if<wire::Multicast>(&item);
  return multicast && multicast->tracking.within_ms != 0 ? multicast : nullptr;
}

bool well_formed(const OrderItem& item) {
  const wire::Position position = position_of(item);
  return position.epoch != 0 &&
         (position.sequence != 0 || !std::holds_alternative<wire::Multicast>(item));
}

}  // namespace

GroupOrder& Ordering::ensure(Group& group, const Id& id) {
  if (group.order) return *group.order;
  group.order = std::make_unique<GroupOrder>(id, core_.order_room, core_.config);
  GroupOrder& order = *group.order;
  if (const auto former = std::exchange(group.former_order, nullptr)) {
    rare<"ordering: a member gets another order than it had">();
    order.highest = order.former = former->last;
    order.seen = std::move(former->seen);
    order.latest = std::move(former->latest);
  }
  return order;
}

void Ordering::drop(Group& group, const Id& id) {
  if (!group.order) return;
  GroupOrder& order = *group.order;
  const wire::Position last = std::max(order.stream.position(), order.former);
  if (last && group.member) {
    core_.upcalls.gap(id, {last.epoch, last.sequence + 1, 0});
    group.former_order = std::make_unique<FormerOrder>(
        FormerOrder{last, std::move(order.seen), std::move(order.latest)});
  }
  core_.counters.publishes_shed += order.waiting.take_all(core_.now()).size();
  group.order.reset();
  timers_.cancel(id);
}

// The membership before may have had another order.
void Ordering::begin_membership(Group& group) {
  group.former_order.reset();
  if (group.order) group.order->former = {};
}

// To a parent that is known to know of this.
void Ordering::tell_highest(const Group& group, const Id& id, const wire::Position& known) {
  const wire::Position& highest = group.order->highest;
  if (highest.epoch > known.epoch) {
    core_.send(group.parent(), wire::RefillRequest{id, highest, highest});
  }
}

PeerRef Ordering::upstream(const Group& group, const Id& id) const {
  if (group.parent() || !group.root_role()) return group.parent();
  const RootRecord* record = roots_.record(id);
  return record ? record->predecessor : PeerRef{};
}

Duration Ordering::patience(const Group& group) const {
  return group.root_role() ? core_.config.root_refill_timeout : core_.config.refill_timeout;
}

// --- Joining ---

wire::Position Ordering::position(const Group& group) {
  return group.order ? group.order->stream.position() : wire::Position{};
}

void Ordering::on_join(Group& group, const Id& id, const wire::GroupJoin& join) {
  if (group.order) group.order->refills.remove(join.child);
  if (!join.position || (!group.order && group.in_tree())) return;
  ensure(group, id).refills.add(join.child, join.position, {});
  heard_of(group, id, join.position);
}

void Ordering::acknowledged(Group& group, const Id& id) {
  if (group.order) review(group, id);
}

void Ordering::child_removed(Group& group, PeerRef child) {
  if (group.order) group.order->refills.remove(child);
}

void Ordering::attached(Group& group, const Id& id, const wire::Position& position) {
  if (!position) return drop(group, id);
  GroupOrder& order = ensure(group, id);
  if (order.stream.started()) {
    // The parent knows from the JOIN what is missing, and sends it unasked.
    order.stream.new_source(position);
    order.ask_at = order.give_up_at = never;
    watch_hole(order, patience(group));
    if (order.ask_at != never) {
      order.ask_at = core_.now() + core_.config.heartbeat_interval / ask_again_share;
    }
  } else {
    order.stream.start(position);
  }
  tell_highest(group, id, position);
  review(group, id);
}

// --- The stream ---

bool Ordering::acceptable(const Group& group, const Id& id, PeerRef from) const {
  return group.judge(from, core_.now()) != SenderVerdict::stray || from == upstream(group, id);
}

void Ordering::on_item(PeerRef from, OrderItem item) {
  if (!well_formed(item)) {
    ++core_.counters.malformed;
    return;
  }
  const Id id = group_of(item);
  Group* group = core_.find(id);
  if (!group || !acceptable(*group, id, from)) {
    ++core_.counters.strays_dropped;
    tree_.answer_stray(from, id);
    if (const auto* multicast = tracked(item)) tracking_.refuse(from, *multicast);
    return;
  }
  core_.neighbors.heard_from_parent(from, core_.now());
  if (position(*group) == wire::Position{}) {
    if (from != group->parent()) {
      ++core_.counters.order_unplaced;
      return;
    }
    const wire::Position base = before(item);
    ensure(*group, id).stream.start(base ? base : position_of(item));
    tell_highest(*group, id, position(*group));
  }
  GroupOrder& order = *group->order;
  std::vector<OrderStream::Step> steps;
  const auto verdict = order.stream.offer(item, core_.now(), steps);
  tree_.on_multicast(*group, id, from, verdict != OrderStream::Verdict::old);
  switch (verdict) {
    case OrderStream::Verdict::in_order:
      if (order.ask_at != never) ++core_.counters.order_refilled;
      advance(*group, steps, from);
      break;
    case OrderStream::Verdict::early: ++core_.counters.order_held; break;
    case OrderStream::Verdict::no_room: ++core_.counters.order_held_drops; break;
    case OrderStream::Verdict::old:
      if (!relay(*group, item)) ++core_.counters.order_old;
      answer_old(*group, item, from);
      break;
  }
  review(*group, id);
}

void Ordering::track(Group& group, const OrderItem& item, PeerRef from) {
  const auto* multicast = tracked(item);
  if (!multicast) return;
  const auto& sequencer = group.order->sequencer;
  const bool own = sequencer && sequencer->last().epoch == multicast->epoch;
  // In another place before this one it may have come before the member did.
  const GroupOrder& order = *group.order;
  const bool known = order.seen.contains(multicast->id);
  const bool has_it = group.member && !order.in_former_gap(position_of(item)) &&
                      !order.overtaken(multicast->id) &&
                      (!known || order.seen.given(multicast->id));
  tracking_.begin(group, *multicast, own ? PeerRef{} : from, own, has_it);
}

void Ordering::answer_old(const Group& group, const OrderItem& item, PeerRef from) {
  const auto* multicast = tracked(item);
  if (!multicast || tracking_.repeated(from, *multicast)) return;
  if (position_of(item) > position(group)) {
    tracking_.not_yet(from, *multicast);
  } else {
    tracking_.passed_by(from, *multicast);
  }
}

void Ordering::advance(Group& group, const std::vector<OrderStream::Step>& steps, PeerRef from) {
  group.order->advanced_at = core_.now();
  for (const OrderStream::Step& step : steps) {
    track(group, step.item, from);
    forward(group, step.item, from);
    deliver(*group.order, group_of(step.item), step, group.member);
  }
}

void Ordering::miss(const Id& id, const Missed& missed, bool member) {
  ++core_.counters.order_gaps;
  if (missed.last != 0) {
    core_.counters.order_lost += missed.last - missed.first + 1;
  } else {
    rare<"ordering: a gap without a known end">();
    ++core_.counters.order_gaps_open;
  }
  if (member && planted_bug != PlantedBug::gap_not_told) core_.upcalls.gap(id, missed);
}

void Ordering::deliver(GroupOrder& order, const Id& id, const OrderStream::Step& step,
                       bool member) {
  if (step.missed) {
    const wire::Position first{step.missed->epoch, step.missed->first};
    miss(id, *step.missed, member && !order.in_former_gap(first));
  }
  const auto* multicast = std::get_if<wire::Multicast>(&step.item);
  if (!multicast) return;
  const wire::Position position = position_of(step.item);
  order.placed.erase(multicast->id);
  if (order.in_former_gap(position)) return order.stream.withhold(position, Withheld::overtaken);
  if (order.overtaken(multicast->id)) {
    rare<"ordering: a message has been overtaken by a later one">();
    ++core_.counters.order_overtaken;
    order.stream.withhold(position, Withheld::overtaken);
    return miss(id, {position.epoch, position.sequence, position.sequence}, member);
  }
  const std::size_t window = core_.config.ordered_duplicate_window;
  if (!order.seen.insert(multicast->id, window, member) ||
      order.latest.latest_of(multicast->id) == multicast->id.sequence) {
    ++core_.counters.duplicates_dropped;
    return order.stream.withhold(position, Withheld::had);
  }
  order.latest.note(multicast->id, window);
  core_.passed(*multicast);
  if (member) {
    ++core_.counters.multicasts_delivered;
    core_.upcalls.multicast(*multicast);
  }
}

void Ordering::forward(Group& group, const OrderItem& item, PeerRef except) {
  GroupOrder& order = *group.order;
  for (const Child& child : group.children) {
    if (!child.acknowledged || child.peer == except || order.refills.catching_up(child.peer)) {
      continue;
    }
    if (std::holds_alternative<wire::Multicast>(item) &&
        core_.pastry.backlog(child.peer) > core_.config.child_backlog_max) {
      rare<"ordering: a child is paused">();
      ++core_.counters.children_paused;
      order.refills.add(child.peer, before(item), {});
      continue;
    }
    ++core_.counters.multicasts_sent;
    core_.neighbors.sent_to(child.peer, core_.now());
    core_.send(child.peer, to_message(item));
  }
  if (group.children.empty()) return;
  order.sent_at = core_.now();
  order.reminders = 0;
  order.remind_at =
      std::min(order.remind_at, order.sent_at + core_.config.heartbeat_interval / remind_share);
}

// An item that this node is past, and has asked for on behalf of others.
bool Ordering::relay(Group& group, const OrderItem& item) {
  GroupOrder& order = *group.order;
  const wire::Position base = order.stream.history().base();
  bool wanted = false;
  for (Refill& owed : order.refills.all()) {
    if (owed.cursor >= base || !follows(item, owed.cursor)) continue;
    const Child* child = group.children.find(owed.peer);
    if (child && !group.may_get(*child)) continue;
    // From its base on, this node has it itself.
    const auto* lost = std::get_if<wire::LostUpTo>(&item);
    const wire::Position position = lost ? std::min(lost->position, base) : position_of(item);
    if (!owed.wants(position) && !lost) continue;
    core_.send(owed.peer, lost ? wire::LostUpTo{lost->group, position} : to_message(item));
    ++core_.counters.refills_sent;
    owed.cursor = position;
    order.fetch_at = core_.now() + core_.config.heartbeat_interval / ask_again_share;
    order.fetch_give_up_at = core_.now() + patience(group);
    wanted = true;
  }
  return wanted;
}

void Ordering::on_latest(PeerRef from, const wire::LatestPosition& latest) {
  Group* group = core_.find(latest.group);
  if (!group || group->judge(from, core_.now()) == SenderVerdict::stray) {
    return tree_.answer_stray(from, latest.group);
  }
  core_.neighbors.heard_from_parent(from, core_.now());
  if (from != group->parent() || position(*group) == wire::Position{}) return;
  OrderStream& stream = group->order->stream;
  const wire::Position known = std::max(stream.position(), group->order->highest);
  if (latest.position.epoch < known.epoch) {
    // It follows a root that knows nothing of this epoch.
    core_.send(from, wire::RefillRequest{latest.group, known, known});
  }
  stream.heard_of(latest.position);
  review(*group, latest.group);
}

// --- What this node misses ---

// Keeps the hole's deadlines: a new one's, and later ones while it gets smaller.
void Ordering::watch_hole(GroupOrder& order, Duration patience) {
  const auto hole = order.stream.hole();
  const MonoTime now = core_.now();
  const Duration heartbeat = core_.config.heartbeat_interval;
  if (!hole) {
    order.ask_at = order.give_up_at = never;
  } else if (order.ask_at == never || hole->after >= order.hole.before) {
    order.ask_at = now + heartbeat / ask_delay_share;
    order.give_up_at = now + patience;
    order.hole = *hole;
  } else if (hole->after > order.hole.after) {
    order.hole.after = hole->after;
    order.ask_at = std::max(order.ask_at, now + heartbeat / ask_delay_share);
    order.give_up_at = now + patience;
  }
}

void Ordering::close_hole(Group& group, const Id& id) {
  GroupOrder& order = *group.order;
  const auto hole = order.stream.hole();
  if (!hole) return;
  const MonoTime now = core_.now();
  const PeerRef above = upstream(group, id);
  const MonoTime again = now + core_.config.heartbeat_interval / ask_again_share;
  if (above && now < order.give_up_at) {
    ++core_.counters.refills_requested;
    core_.send(above, wire::RefillRequest{id, hole->after, hole->before});
    order.ask_at = std::min(again, order.give_up_at);
  } else if (!above && !group.serves_as_root()) {
    order.ask_at = again;  // of the next parent
    order.give_up_at = again + patience(group);
  } else {
    std::vector<OrderStream::Step> steps;
    order.stream.give_up(now, steps);
    advance(group, steps, {});
  }
}

// --- What others miss ---

void Ordering::on_refill_request(PeerRef from, const wire::RefillRequest& request) {
  Group* group = core_.find(request.group);
  const Child* child = group ? group->children.find(from) : nullptr;
  const bool neighbor =
      group && (child || from == group->parent() || from == group->untold_parent());
  const bool known =
      neighbor || (group && group->serves_as_root() &&
                   (!restricts_joining(group->list()) || roots_.is_successor(request.group, from)));
  if (!known) {
    ++core_.counters.strays_dropped;
    return core_.send(from, wire::Orphaned{request.group});
  }
  if (position(*group) == wire::Position{} || !request.after) return;
  heard_of(*group, request.group, request.after);
  if (request.before && request.before <= request.after) return;
  GroupOrder& order = *group->order;
  wire::Position cursor = request.after;
  const wire::Position base = order.stream.history().base();
  if (!child && cursor < base) {
    // A parent asks its child for what only that can have.
    core_.send(from, wire::LostUpTo{request.group, base});
    cursor = base;
  }
  order.refills.add(from, cursor, request.before);
  review(*group, request.group);
}

// Gives what is there, fetches what is not.
void Ordering::refill(Group& group, const Id& id) {
  GroupOrder& order = *group.order;
  order.refill_at = never;
  if (order.refills.empty() || !order.stream.started()) {
    order.fetch_at = order.fetch_give_up_at = never;
    return;
  }
  std::erase_if(order.refills.all(), [&](Refill& owed) {
    const Child* child = group.children.find(owed.peer);
    if (child && !child->acknowledged) return false;
    if (!order.stream.history().covers(owed.cursor)) return false;
    if (send_batch(order, owed)) return true;
    order.refill_at = core_.now() + batch_pace;
    return false;
  });
  fetch(group, id);
}

// Whether that was all.
bool Ordering::send_batch(GroupOrder& order, Refill& owed) {
  if (core_.pastry.backlog(owed.peer) > core_.config.child_backlog_max) return false;
  const OrderHistory& history = order.stream.history();
  std::size_t bytes = 0;
  for (std::size_t items = 0; items < batch_items && bytes < batch_bytes; ++items) {
    const OrderItem* next = history.next_after(owed.cursor);
    if (!next || !owed.wants(position_of(*next))) return true;
    owed.cursor = position_of(*next);
    bytes += bytes_of(*next);
    ++core_.counters.refills_sent;
    core_.neighbors.sent_to(owed.peer, core_.now());
    core_.send(owed.peer, to_message(*next, history.age_of(owed.cursor, core_.now())));
  }
  return false;
}

void Ordering::fetch(Group& group, const Id& id) {
  GroupOrder& order = *group.order;
  const wire::Position base = order.stream.history().base();
  const auto earliest = order.refills.uncovered(base);
  if (!earliest) {
    order.fetch_at = order.fetch_give_up_at = never;
    return;
  }
  const MonoTime now = core_.now();
  if (order.fetch_at != never && order.fetch_at > now) return;
  const PeerRef above = upstream(group, id);
  const MonoTime again = now + core_.config.heartbeat_interval / ask_again_share;
  if (order.fetch_at == never || (!above && !group.serves_as_root())) {
    order.fetch_give_up_at = now + patience(group);
  }
  if ((above && now < order.fetch_give_up_at) || (!above && !group.serves_as_root())) {
    order.fetch_at = again;
    if (!above) return;
    ++core_.counters.refills_requested;
    core_.send(above, wire::RefillRequest{id, *earliest, {base.epoch, base.sequence + 1}});
  } else {
    give_up_fetch(order, id);
  }
}

void Ordering::give_up_fetch(GroupOrder& order, const Id& id) {
  const wire::Position base = order.stream.history().base();
  for (Refill& owed : order.refills.all()) {
    if (owed.cursor >= base) continue;
    core_.send(owed.peer, wire::LostUpTo{id, base});
    owed.cursor = base;
  }
  order.fetch_at = order.fetch_give_up_at = never;
  order.refill_at = core_.now();
}

// A child that lacks the last messages of a burst would not miss them.
void Ordering::remind(Group& group, const Id& id) {
  GroupOrder& order = *group.order;
  const MonoTime now = core_.now();
  const Duration pause = core_.config.heartbeat_interval / remind_share;
  if (now < order.sent_at + pause) {
    order.remind_at = order.sent_at + pause;
    return;
  }
  for (const Child& child : group.children) {
    if (!child.acknowledged || order.refills.catching_up(child.peer)) continue;
    core_.send(child.peer, wire::LatestPosition{id, order.stream.position()});
  }
  ++order.reminders;
  order.remind_at = order.reminders < reminders_max ? now + pause * (1 << order.reminders) : never;
}

// --- Time ---

void Ordering::review(Group& group, const Id& id) {
  GroupOrder& order = *group.order;
  watch_hole(order, patience(group));
  if (!order.refills.empty() && order.refill_at == never) refill(group, id);
  if (order.expire_at == never && !order.stream.history().empty()) {
    order.expire_at = order.stream.history().oldest() + core_.config.history_age_max;
  }
  schedule(order, id);
}

void Ordering::schedule(GroupOrder& order, const Id& id) {
  const MonoTime next = order.next_deadline();
  if (!core_.config.maintenance || next >= order.scheduled) return;
  order.scheduled = next;
  timers_.schedule(id, next);
  core_.wake_at(next);
}

void Ordering::look_at(Group& group, const Id& id) {
  GroupOrder& order = *group.order;
  const MonoTime now = core_.now();
  order.scheduled = never;
  if (order.ask_at <= now) close_hole(group, id);
  if (order.refill_at <= now || order.fetch_at <= now) refill(group, id);
  if (order.remind_at <= now) remind(group, id);
  if (order.expire_at <= now) expire(order);
  review(group, id);
}

void Ordering::expire(GroupOrder& order) {
  const MonoTime now = core_.now();
  order.stream.expire_history(now - core_.config.history_age_max);
  // What comes again after so long is known by its publisher's latest.
  if (order.advanced_at + core_.config.history_age_max <= now) order.seen = {};
  // Not a wake-up a message.
  order.expire_at = order.stream.history().empty() ? never : now + core_.config.history_age_max / 4;
}

void Ordering::tick() {
  for (const Id& id : timers_.take_due(core_.now())) {
    Group* group = core_.find(id);
    if (group && group->order) look_at(*group, id);
  }
}

}  // namespace canopy::scribe
