#include "net/outbox.hpp"

#include <iterator>
#include <utility>

namespace canopy::net {

namespace {
constexpr std::size_t kept_items_max = 64;  // room that an emptied queue keeps
constexpr std::size_t compact_from = 1024;  // items gone before the rest is moved up
}  // namespace

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
  while (!queue.empty() &&
         (queue.size() >= limits.messages_max || queue.bytes + bytes > limits.bytes_max)) {
    queue.pop();
    ++dropped_full_.of(traffic);
  }
  queue.push({std::move(message), bytes});
}

std::optional<wire::Message> Outbox::pop() { return pop_from(control_.empty() ? bulk_ : control_); }

void Outbox::drop_all(ClassCounts& counts) {
  drop_from(control_, counts.control);
  drop_from(bulk_, counts.bulk);
}

std::optional<wire::Message> Outbox::pop_from(Queue& queue) {
  if (queue.empty()) return std::nullopt;
  return queue.pop().message;
}

void Outbox::drop_from(Queue& queue, std::uint64_t& dropped) {
  dropped += queue.size();
  queue = {};
}

void Outbox::Queue::push(Waiting item) {
  bytes += item.bytes;
  items.push_back(std::move(item));
}

Outbox::Waiting Outbox::Queue::pop() {
  Waiting item = std::move(items[head]);
  items[head].message = {};  // a moved-from message may still hold its payload
  ++head;
  bytes -= item.bytes;
  if (empty()) {
    items.clear();
    head = 0;
    if (items.capacity() > kept_items_max) items.shrink_to_fit();
  } else if (head >= compact_from && head * 2 >= items.size()) {
    items.erase(items.begin(), std::next(items.begin(), static_cast<std::ptrdiff_t>(head)));
    head = 0;
  }
  return item;
}

}  // namespace canopy::net
