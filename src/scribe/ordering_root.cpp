// The part of Ordering that is done at a group's root: epochs and places.
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/rare.hpp"
#include "scribe/ordering.hpp"
#include "scribe/roots.hpp"
#include "scribe/tracking.hpp"

namespace canopy::scribe {

namespace {

// The root's own item has its place in the stream whatever room there is: rather
// than it, what is missing before it is lost.
void offer_own(OrderStream& stream, const OrderItem& item, MonoTime now,
               std::vector<OrderStream::Step>& steps) {
  if (stream.offer(item, now, steps) != OrderStream::Verdict::no_room) return;
  while (stream.hole()) stream.give_up(now, steps);
  if (!follows(item, stream.position())) {
    stream.offer(wire::LostUpTo{group_of(item), before(item)}, now, steps);
  }
  stream.offer(item, now, steps);
}

}  // namespace

// --- Epochs ---

std::uint64_t Ordering::begin_epoch(Group& group, const Id& id, std::uint64_t known_epoch,
                                    const wire::Position& closed) {
  GroupOrder& order = ensure(group, id);
  OrderStream& stream = order.stream;
  const PeerDescriptor& self = core_.env.peers()[core_.self];
  const std::uint64_t highest =
      std::max({known_epoch, stream.position().epoch, order.highest.epoch, closed.epoch});
  // Not where another order is known of: its messages would be passed over without a word.
  const auto handed = closed && closed.epoch == highest
                          ? epoch_after(highest, self.id, self.incarnation)
                          : std::nullopt;
  const std::uint64_t epoch = handed ? *handed : epoch_above(highest, self.id, self.incarnation);
  std::vector<OrderStream::Step> steps;
  if (!handed) {
    while (stream.hole()) stream.give_up(core_.now(), steps);
  }
  order.sequencer = std::make_unique<RootSequencer>(epoch);
  order.frozen = false;
  ++core_.counters.epochs_begun;
  if (!stream.started()) stream.start(handed ? closed : wire::Position{epoch, 0});
  if (stream.position().epoch < epoch) {
    const wire::EpochStart start{id, epoch, handed ? closed : stream.position(),
                                 handed.has_value()};
    offer_own(stream, start, core_.now(), steps);
  }
  advance(group, steps, {});
  review(group, id);
  for (const wire::Publish& publish : order.waiting.take_all(core_.now()))
    serve(group, id, publish);
  return epoch;
}

// Somebody has got further than this root knows of: another root was, or is, at
// work. Messages of its epoch are taken before those of an older one, so this
// node's has to be larger.
void Ordering::heard_of(Group& group, const Id& id, const wire::Position& position) {
  GroupOrder& order = *group.order;
  order.highest = std::max(order.highest, position);
  if (order.sequencer && group.standing() == Standing::root) {
    if (position > order.sequencer->last()) roots_.renew_epoch(id);
  } else if (group.parent() && position.epoch > order.stream.position().epoch) {
    core_.send(group.parent(), wire::RefillRequest{id, position, position});
  }
}

void Ordering::freeze(Group& group) {
  if (group.order) group.order->frozen = true;
}

wire::Position Ordering::last_position(const Id& id) const {
  const Group* group = core_.find(id);
  return group && serves(*group) ? group->order->sequencer->last() : wire::Position{};
}

void Ordering::resign(Group& group) {
  if (!group.order) return;
  group.order->sequencer.reset();
  group.order->frozen = false;
}

void Ordering::handed_over(Group& group, PeerRef to) {
  resign(group);
  if (!group.order) return;
  for (const wire::Publish& publish : group.order->waiting.take_all(core_.now()))
    core_.send(to, publish);
}

// --- Places ---

bool Ordering::serves(const Group& group) { return group.order && group.order->sequencer; }

void Ordering::serve(Group& group, const Id& id, const wire::Publish& publish) {
  GroupOrder& order = *group.order;
  const wire::MessageId earlier{publish.id.publisher, publish.id.incarnation, publish.after};
  if (order.frozen) {
    if (!order.waiting.add(publish, core_.now())) ++core_.counters.publishes_shed;
  } else if (order.knows(publish.id)) {
    ++core_.counters.duplicates_dropped;
    placed_(publish, order.stream.history().find(publish.id));
  } else if (publish.after != 0 && !order.knows(earlier)) {
    const MonoTime now = core_.now();
    rare<"ordering: a message overtakes one before it">();
    ++core_.counters.publishes_early;
    if (!order.waiting.add_early(publish, now, now - core_.config.request_timeout)) {
      ++core_.counters.publishes_shed;
    }
  } else {
    for (std::optional<wire::Publish> next = publish; next;
         next = order.waiting.take_after(next->id, core_.now())) {
      if (order.knows(next->id)) continue;
      order.sequencer->submit(
          *next, [this, id](const wire::Publish& placed, const wire::Position& position) {
            place(id, placed, position);
            placed_(placed, position);
          });
    }
  }
}

void Ordering::place(const Id& id, const wire::Publish& publish, const wire::Position& position) {
  Group* group = core_.find(id);
  CANOPY_ASSERT(group && group->order);
  OrderStream& stream = group->order->stream;
  wire::Multicast message;
  message.group = id;
  message.id = publish.id;
  message.epoch = position.epoch;
  message.sequence = position.sequence;
  message.body = publish.body;
  message.asking = asking_of(publish);
  if (publish.ack == wire::AckMode::members)
    message.tracking.within_ms = time_below(core_.config, publish.within_ms);
  std::vector<OrderStream::Step> steps;
  offer_own(stream, message, core_.now(), steps);
  // The old root may have given it a place as well, which counts before this one.
  if (stream.position() < position) {
    rare<"ordering: a place is given before those before it are known">();
    group->order->placed.insert(publish.id);
  }
  advance(*group, steps, {});
  review(*group, id);
}

}  // namespace canopy::scribe
