#include "queue/waiters.hpp"

#include <algorithm>

namespace canopy::queue {

void Waiters::add(Waiter waiter) {
  const Order order = ++last_order_;
  tokens_[waiter.token] = order;
  by_queue_.emplace(waiter.queue, order);
  by_end_.emplace(waiter.ends, order);
  waiters_.emplace(order, std::move(waiter));
}

std::optional<Waiter> Waiters::take(Order order) {
  auto node = waiters_.extract(order);
  if (node.empty()) return std::nullopt;
  Waiter waiter = std::move(node.mapped());
  tokens_.erase(waiter.token);
  by_queue_.erase({waiter.queue, order});
  by_end_.erase({waiter.ends, order});
  if (!any(waiter.queue)) set_timer(waiter.queue, std::nullopt);
  return waiter;
}

bool Waiters::cancel(Token token) {
  const auto found = tokens_.find(token);
  return found != tokens_.end() && take(found->second).has_value();
}

std::optional<Waiters::Order> Waiters::first(QueueNumber queue) const {
  const auto at = by_queue_.lower_bound({queue, 0});
  return at != by_queue_.end() && at->first == queue ? std::optional(at->second) : std::nullopt;
}

std::vector<Waiters::Order> Waiters::ended(Millis now) const {
  std::vector<Order> orders;
  for (const auto& [end, order] : by_end_) {
    if (end > now) break;
    orders.push_back(order);
  }
  return orders;
}

std::vector<QueueNumber> Waiters::queues() const {
  std::vector<QueueNumber> numbers;
  for (const auto& [queue, order] : by_queue_) {
    if (numbers.empty() || numbers.back() != queue) numbers.push_back(queue);
  }
  return numbers;
}

void Waiters::set_timer(QueueNumber queue, std::optional<Millis> time) {
  const auto found = timer_of_.find(queue);
  if (found != timer_of_.end()) {
    timers_.erase({found->second, queue});
    timer_of_.erase(found);
  }
  if (!time) return;
  timers_.emplace(*time, queue);
  timer_of_.emplace(queue, *time);
}

std::optional<QueueNumber> Waiters::take_timer(Millis now) {
  if (timers_.empty() || timers_.begin()->first > now) return std::nullopt;
  const QueueNumber queue = timers_.begin()->second;
  set_timer(queue, std::nullopt);
  return queue;
}

std::optional<Millis> Waiters::next_deadline() const {
  std::optional<Millis> first;
  if (!by_end_.empty()) first = by_end_.begin()->first;
  if (!timers_.empty())
    first = std::min(first.value_or(timers_.begin()->first), timers_.begin()->first);
  return first;
}

}  // namespace canopy::queue
