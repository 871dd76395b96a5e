// What one node keeps for an ordered group beside its place in the tree: its
// stream, what it owes to others, and, at the root, the sequencer. Owned by its
// Group; Ordering works on it. Not thread-safe.
#pragma once

#include <algorithm>
#include <memory>
#include <set>

#include "base/time.hpp"
#include "scribe/config.hpp"
#include "scribe/duplicate_window.hpp"
#include "scribe/order_stream.hpp"
#include "scribe/publisher_marks.hpp"
#include "scribe/refills.hpp"
#include "scribe/sequencer.hpp"
#include "scribe/waiting_publishes.hpp"

namespace canopy::scribe {

// What a member has had of an order that its node has dropped: in another one, too, it gets
// nothing twice, and nothing at an earlier place.
struct FormerOrder {
  wire::Position last;
  DuplicateWindow seen;
  PublisherMarks latest;
};

struct GroupOrder {
  GroupOrder(const Id& group, OrderStream::Room& room, const Config& config)
      : stream(group, room, config.history_bytes_max),
        waiting(config.held_publishes_max, config.held_bytes_max) {}

  OrderStream stream;
  Refills refills;
  DuplicateWindow seen;
  PublisherMarks latest;
  MonoTime advanced_at{};  // when the stream went on last
  wire::Position highest;  // that any peer is known to have got to
  wire::Position former;   // up to here members had an order before, and then a gap

  // At the root.
  std::unique_ptr<Sequencer> sequencer;
  std::set<wire::MessageId> placed;  // what has its place, but is not in order here yet
  bool frozen = false;               // on its way to another root: no place is given any more
  WaitingPublishes waiting;

  // The hole that is being closed, from the parent's history.
  OrderStream::Hole hole;
  MonoTime ask_at = never;
  MonoTime give_up_at = never;

  // What others are owed that is not here any more, from the parent's as well.
  MonoTime fetch_at = never;
  MonoTime fetch_give_up_at = never;

  MonoTime refill_at = never;  // the next batch of what others are owed
  MonoTime expire_at = never;  // what is old in the history

  // Telling children the latest position while nothing else is told.
  MonoTime remind_at = never;
  MonoTime sent_at{};
  unsigned reminders = 0;

  // A later one of its publisher has come first, without it: it would come out of that one's
  // order.
  bool overtaken(const wire::MessageId& id) const {
    return id.sequence < latest.latest_of(id) && !seen.contains(id);
  }

  // All that follows the former order is a gap for its members, up to what is above it.
  bool in_former_gap(const wire::Position& position) const noexcept { return position <= former; }

  // Whether the message has a place, as far as this node knows: it, or a later one of its
  // publisher, which gets none before it.
  bool knows(const wire::MessageId& id) const {
    const auto next = placed.lower_bound(id);
    return id.sequence <= latest.latest_of(id) ||
           (next != placed.end() && wire::same_publisher(*next, id));
  }

  // The same, or it waits at this root for the one before it.
  bool has(const wire::Publish& publish) const {
    return knows(publish.id) || waiting.has_early(publish);
  }

  MonoTime scheduled = never;  // when Ordering is to look at it again
  MonoTime next_deadline() const noexcept {
    return std::min({ask_at, fetch_at, refill_at, expire_at, remind_at});
  }
};

}  // namespace canopy::scribe
