#include "scribe/order_stream.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace canopy::scribe {

void OrderStream::start(const wire::Position& position) {
  while (!held_.empty()) drop_first_held();
  position_ = latest_ = position;
  history_.begin(position);
}

OrderStream::Verdict OrderStream::offer(OrderItem item, MonoTime now, std::vector<Step>& steps) {
  CANOPY_ASSERT(started());
  const wire::Position position = position_of(item);
  if (position <= position_) return Verdict::old;
  if (const auto* lost = std::get_if<wire::LostUpTo>(&item)) {
    pass_over(*lost, now, steps);
    return Verdict::in_order;
  }
  if (held_.contains(position)) return Verdict::old;
  if (follows(item, position_)) {
    take(std::move(item), now, steps);
    take_held(now, steps);
    return Verdict::in_order;
  }
  const std::size_t bytes = bytes_of(item);
  if (!room_.held.has_room_for(bytes)) return Verdict::no_room;
  room_.held.take(bytes);
  held_.emplace(position, Held{unshared(std::move(item)), now});
  return Verdict::early;
}

void OrderStream::take(OrderItem item, MonoTime now, std::vector<Step>& steps) {
  Step step{std::move(item), {}};
  step.missed = missed_by(step.item, position_);
  position_ = position_of(step.item);
  history_.append(unshared(step.item), now);
  steps.push_back(std::move(step));
}

// What is held here is not lost, though nobody else has it.
void OrderStream::pass_over(const wire::LostUpTo& lost, MonoTime now, std::vector<Step>& steps) {
  while (!held_.empty() && held_.begin()->first <= lost.position) give_up(now, steps);
  if (position_ >= lost.position) return;
  take(lost, now, steps);
  take_held(now, steps);
}

void OrderStream::take_held(MonoTime now, std::vector<Step>& steps) {
  while (!held_.empty()) {
    const auto& [first, since] = held_.begin()->second;
    if (follows(first, position_)) {
      OrderItem item = first;
      age(item, now - since);
      take(std::move(item), now, steps);
    } else if (position_of(first) > position_) {
      return;
    }
    drop_first_held();
  }
}

void OrderStream::drop_first_held() {
  room_.held.give_back(bytes_of(held_.begin()->second.item));
  held_.erase(held_.begin());
}

void OrderStream::collect_peers(std::vector<PeerRef>& in_use) const {
  history_.collect_peers(in_use);
  for (const auto& [position, held] : held_) collect_peers_of(held.item, in_use);
}

void OrderStream::heard_of(const wire::Position& latest) { latest_ = std::max(latest_, latest); }

std::optional<OrderStream::Hole> OrderStream::hole() const {
  if (!held_.empty()) return Hole{position_, held_.begin()->first};
  if (latest_ <= position_) return std::nullopt;
  return Hole{position_, {latest_.epoch, latest_.sequence + 1}};
}

void OrderStream::give_up(MonoTime now, std::vector<Step>& steps) {
  const auto missing = hole();
  if (!missing) return;
  const wire::Position end = held_.empty() ? latest_ : before(held_.begin()->second.item);
  take(wire::LostUpTo{group_, end}, now, steps);
  take_held(now, steps);
}

}  // namespace canopy::scribe
