#include "net/outbox.hpp"

#include <utility>

namespace canopy::net {

void Outbox::push(wire::Message message) {
  const auto traffic = wire::traffic_class(message);
  const bool control = traffic == wire::TrafficClass::control;
  Queue& queue = control ? control_ : bulk_;
  const ClassLimits& limits = control ? limits_.control : limits_.bulk;
  const std::size_t bytes = wire::size_estimate(message);
  if (bytes > limits.bytes_max || limits.messages_max == 0) {
    ++dropped_full_.of(traffic);
    return;
  }
  while (!queue.items.empty() &&
         (queue.items.size() >= limits.messages_max || queue.bytes + bytes > limits.bytes_max)) {
    queue.pop();
    ++dropped_full_.of(traffic);
  }
  queue.push({std::move(message), bytes});
}

std::optional<wire::Message> Outbox::pop() {
  return pop_from(control_.items.empty() ? bulk_ : control_);
}

void Outbox::drop_all(ClassCounts& counts) {
  drop_from(control_, counts.control);
  drop_from(bulk_, counts.bulk);
}

std::optional<wire::Message> Outbox::pop_from(Queue& queue) {
  if (queue.items.empty()) return std::nullopt;
  return queue.pop().message;
}

void Outbox::drop_from(Queue& queue, std::uint64_t& dropped) {
  dropped += queue.items.size();
  queue = {};
}

void Outbox::Queue::push(Waiting item) {
  bytes += item.bytes;
  items.push(std::move(item));
}

Outbox::Waiting Outbox::Queue::pop() {
  Waiting item = items.pop();
  bytes -= item.bytes;
  return item;
}

}  // namespace canopy::net
