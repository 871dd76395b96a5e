// Long polls that found nothing, in the order in which they came. Bounded by
// whoever adds. Plain data, one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "queue/actions.hpp"
#include "queue/command.hpp"

namespace canopy::queue {

// Names a request to whoever made it.
using Token = std::uint64_t;

struct Waiter {
  Token token = 0;
  QueueNumber queue = 0;
  Millis ends = 0;        // an answer without messages is due
  Millis moves_wait = 0;  // ... but not while dead letters are on their way, up to here
  ReceiveMessage action;
};

class Waiters {
 public:
  using Order = std::uint64_t;

  void add(Waiter waiter);
  std::optional<Waiter> take(Order order);
  bool cancel(Token token);

  // Of one queue, first come first.
  std::optional<Order> first(QueueNumber queue) const;
  bool any(QueueNumber queue) const { return first(queue).has_value(); }
  const Waiter& at(Order order) const { return waiters_.at(order); }
  // Those whose time is up.
  std::vector<Order> ended(Millis now) const;
  std::vector<QueueNumber> queues() const;

  // The time to look at a queue again; at most one each.
  void set_timer(QueueNumber queue, std::optional<Millis> time);
  std::optional<QueueNumber> take_timer(Millis now);

  std::optional<Millis> next_deadline() const;
  std::size_t size() const { return waiters_.size(); }

 private:
  Order last_order_ = 0;
  std::unordered_map<Order, Waiter> waiters_;
  std::unordered_map<Token, Order> tokens_;
  std::set<std::pair<QueueNumber, Order>> by_queue_;
  std::set<std::pair<Millis, Order>> by_end_;
  std::map<QueueNumber, Millis> timer_of_;
  std::set<std::pair<Millis, QueueNumber>> timers_;
};

}  // namespace canopy::queue
