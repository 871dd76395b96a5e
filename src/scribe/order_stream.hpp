// One node's stream of an ordered group: takes items from whoever sends them,
// in whatever order, and yields each once, in order.
//
// What comes too early is held back, in bounded number; hole() says what is
// missing before it. A hole that nobody fills is given up: then its range is
// lost, which is an item of the stream like any other. No I/O. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/quota.hpp"
#include "scribe/order_history.hpp"
#include "scribe/order_item.hpp"

namespace canopy::scribe {

class OrderStream {
 public:
  // Room for what is held back, here and in all streams of a node.
  struct Room {
    HistoryRoom history;
    Quota held;
  };

  OrderStream(const Id& group, Room& room, std::size_t history_bytes_max)
      : group_(group), room_(room), history_(room.history, history_bytes_max) {}
  ~OrderStream() { start({}); }
  OrderStream(const OrderStream&) = delete;
  OrderStream& operator=(const OrderStream&) = delete;

  // Nothing is in order before it knows from where on.
  bool started() const noexcept { return static_cast<bool>(position_); }
  void start(const wire::Position& position);

  // Up to here everything was yielded.
  const wire::Position& position() const noexcept { return position_; }
  const OrderHistory& history() const noexcept { return history_; }
  void expire_history(MonoTime kept_before) { history_.expire(kept_before); }
  void withhold(const wire::Position& position, Withheld why) { history_.withhold(position, why); }

  struct Step {
    OrderItem item;
    std::optional<Missed> missed;  // before it
  };
  enum class Verdict {
    in_order,
    early,    // held back
    old,      // it, or what stands for it, was yielded before
    no_room,  // as early, but not even held back
  };
  // Appends what is in order now, this item and those that were held back for it.
  Verdict offer(OrderItem item, MonoTime now, std::vector<Step>& steps);

  // The source, a parent, has everything up to here; of a new source, no matter
  // what others had.
  void heard_of(const wire::Position& latest);
  void new_source(const wire::Position& latest) { latest_ = latest; }

  // What is missing: everything after `after`, up to and without `before`.
  struct Hole {
    wire::Position after;
    wire::Position before;
    friend bool operator==(const Hole&, const Hole&) = default;
  };
  std::optional<Hole> hole() const;
  // What the hole would have held is lost.
  void give_up(MonoTime now, std::vector<Step>& steps);

  std::size_t held() const noexcept { return held_.size(); }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  void take(OrderItem item, MonoTime now, std::vector<Step>& steps);
  void pass_over(const wire::LostUpTo& lost, MonoTime now, std::vector<Step>& steps);
  void take_held(MonoTime now, std::vector<Step>& steps);
  void drop_first_held();

  Id group_;
  Room& room_;
  OrderHistory history_;
  wire::Position position_;
  wire::Position latest_;  // of the source
  struct Held {
    OrderItem item;
    MonoTime since;
  };
  std::map<wire::Position, Held> held_;
};

}  // namespace canopy::scribe
