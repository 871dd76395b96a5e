// Ordered groups: one order of all messages per epoch, and every loss either
// filled or told.
//
// The root gives each message its position. Every node of the tree takes
// positions in order only (OrderStream), passes them on in order, and keeps the
// recent ones. Whoever misses some asks its parent, who gives them from its
// history or asks upward for them; so a re-JOIN, which tells how far the child
// has got, costs nothing but time. What nobody has any more is told down the
// tree as LostUpTo, and to members as a gap.
//
// A root that takes over begins a new epoch, larger than all it knows of. If the
// old one handed over, the new one's start says where the old order ended, and
// nothing is missing; else members are told a gap of unknown end.
//
// A message that a later root sequences again is passed on under its new
// position, for there is only one order; members that have had it do not get it
// twice. Nor does anybody get it behind a later one of the same publisher: a root that
// knows of that one gives it no place, and under another's it is told as a gap.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <functional>
#include <vector>

#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"

namespace canopy::scribe {

class Roots;
class Tracking;
class Tree;

class Ordering {
 public:
  // A publish has got its position; or has had one before, which is none if it
  // is not known any more.
  using Placed = std::function<void(const wire::Publish& publish, const wire::Position& position)>;

  Ordering(Core& core, Tree& tree, Roots& roots, Tracking& tracking, Placed placed)
      : core_(core), tree_(tree), roots_(roots), tracking_(tracking), placed_(std::move(placed)) {}

  // --- For Tree ---
  static void begin_membership(Group& group);
  // Up to where this node has everything; none where the group is not ordered.
  static wire::Position position(const Group& group);
  // The child has joined, with this position.
  void on_join(Group& group, const Id& id, const wire::GroupJoin& join);
  // It was told that it is in the tree.
  void acknowledged(Group& group, const Id& id);
  void child_removed(Group& group, PeerRef child);
  // A parent has acknowledged this node.
  void attached(Group& group, const Id& id, const wire::Position& position);

  // --- Messages ---
  void on_item(PeerRef from, OrderItem item);
  void on_latest(PeerRef from, const wire::LatestPosition& latest);
  void on_refill_request(PeerRef from, const wire::RefillRequest& request);

  // --- For Roots ---
  // This node, the root, begins an epoch above this and all that it has heard
  // of. `closed`: the old root's last position, if that has handed over.
  std::uint64_t begin_epoch(Group& group, const Id& id, std::uint64_t known_epoch,
                            const wire::Position& closed);
  // No message gets a place any more: the group is being handed over.
  void freeze(Group& group);
  // This node is not the root any more, and gives no positions.
  void resign(Group& group);
  // The last position given.
  wire::Position last_position(const Id& id) const;
  void handed_over(Group& group, PeerRef to);

  // The group is not ordered any more.
  void drop(Group& group, const Id& id);

  // --- At the root ---
  static bool serves(const Group& group);
  void serve(Group& group, const Id& id, const wire::Publish& publish);

  void tick();
  MonoTime next_deadline() const { return timers_.next(); }

 private:
  GroupOrder& ensure(Group& group, const Id& id);
  void tell_highest(const Group& group, const Id& id, const wire::Position& known);
  PeerRef upstream(const Group& group, const Id& id) const;
  Duration patience(const Group& group) const;
  bool acceptable(const Group& group, const Id& id, PeerRef from) const;

  void advance(Group& group, const std::vector<OrderStream::Step>& steps, PeerRef from);
  void deliver(GroupOrder& order, const Id& id, const OrderStream::Step& step, bool member);
  void miss(const Id& id, const Missed& missed, bool member);
  void forward(Group& group, const OrderItem& item, PeerRef except);
  bool relay(Group& group, const OrderItem& item);
  void track(Group& group, const OrderItem& item, PeerRef from);
  void answer_old(const Group& group, const OrderItem& item, PeerRef from);

  void heard_of(Group& group, const Id& id, const wire::Position& position);
  void place(const Id& id, const wire::Publish& publish, const wire::Position& position);

  void review(Group& group, const Id& id);
  void watch_hole(GroupOrder& order, Duration patience);
  void close_hole(Group& group, const Id& id);
  void refill(Group& group, const Id& id);
  bool send_batch(GroupOrder& order, Refill& owed);
  void fetch(Group& group, const Id& id);
  void give_up_fetch(GroupOrder& order, const Id& id);
  void remind(Group& group, const Id& id);
  void expire(GroupOrder& order);
  void look_at(Group& group, const Id& id);
  void schedule(GroupOrder& order, const Id& id);

  Core& core_;
  Tree& tree_;
  Roots& roots_;
  Tracking& tracking_;
  Placed placed_;
  DeadlineSet<Id> timers_;
};

}  // namespace canopy::scribe
