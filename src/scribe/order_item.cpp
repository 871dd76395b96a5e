#include "scribe/order_item.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "scribe/time_left.hpp"

namespace canopy::scribe {

wire::Position position_of(const OrderItem& item) noexcept {
  if (const auto* multicast = std::get_if<wire::Multicast>(&item)) {
    return {multicast->epoch, multicast->sequence};
  }
  if (const auto* start = std::get_if<wire::EpochStart>(&item)) return {start->epoch, 0};
  return std::get<wire::LostUpTo>(item).position;
}

const Id& group_of(const OrderItem& item) noexcept {
  return std::visit([](const auto& any) -> const Id& { return any.group; }, item);
}

wire::Position before(const OrderItem& item) noexcept {
  if (const auto* start = std::get_if<wire::EpochStart>(&item)) return start->previous;
  wire::Position position = position_of(item);
  if (std::holds_alternative<wire::Multicast>(item)) --position.sequence;
  return position;
}

bool follows(const OrderItem& item, const wire::Position& last) noexcept {
  const wire::Position position = position_of(item);
  if (position <= last) return false;
  if (std::holds_alternative<wire::Multicast>(item)) {
    return position.epoch == last.epoch && position.sequence == last.sequence + 1;
  }
  const auto* start = std::get_if<wire::EpochStart>(&item);
  return !start || last >= start->previous;
}

std::optional<Missed> missed_by(const OrderItem& item, const wire::Position& last) noexcept {
  if (std::holds_alternative<wire::Multicast>(item)) return std::nullopt;
  if (const auto* start = std::get_if<wire::EpochStart>(&item)) {
    if (start->exact && start->previous.epoch == last.epoch) return std::nullopt;
    return Missed{last.epoch, last.sequence + 1, 0};
  }
  const wire::Position position = position_of(item);
  const bool within = position.epoch == last.epoch;
  return Missed{last.epoch, last.sequence + 1, within ? position.sequence : 0};
}

void collect_peers_of(const OrderItem& item, std::vector<PeerRef>& in_use) {
  const auto* multicast = std::get_if<wire::Multicast>(&item);
  if (multicast && multicast->asking.asker) in_use.push_back(multicast->asking.asker);
}

std::size_t bytes_of(const OrderItem& item) noexcept {
  const auto* multicast = std::get_if<wire::Multicast>(&item);
  return sizeof(OrderItem) + (multicast ? multicast->body.size() + multicast->key.size() : 0);
}

void age(OrderItem& item, Duration by) noexcept {
  auto* multicast = std::get_if<wire::Multicast>(&item);
  if (multicast) multicast->asking.within_ms = left_after(multicast->asking.within_ms, by);
}

wire::Message to_message(const OrderItem& item, Duration age) {
  OrderItem aged = item;
  scribe::age(aged, age);
  return std::visit([](auto& any) -> wire::Message { return std::move(any); }, aged);
}

wire::Asking asking_of(const wire::Publish& publish) noexcept {
  if (publish.reply_within_ms == 0) return {};
  return {publish.origin, publish.reply_within_ms};
}

}  // namespace canopy::scribe
