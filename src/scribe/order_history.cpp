#include "scribe/order_history.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace canopy::scribe {

namespace {

constexpr std::size_t small_body = 1024;

}  // namespace

OrderItem unshared(OrderItem item) {
  auto* multicast = std::get_if<wire::Multicast>(&item);
  if (multicast && multicast->body.size() < small_body) {
    multicast->body = Buffer::copy_of(multicast->body.view());
  }
  return item;
}

void OrderHistory::begin(const wire::Position& base) {
  while (!kept_.empty()) drop_oldest();
  base_ = base;
}

void OrderHistory::append(OrderItem item, MonoTime now) {
  const std::size_t bytes = bytes_of(item);
  if (kept_.empty()) room_.holding_.push_back(this);
  kept_.push_back({std::move(item), bytes, now});
  bytes_ += bytes;
  room_.bytes_ += bytes;
  trim(bytes_max_);
  room_.make_room();
}

void OrderHistory::trim(std::size_t bytes_max) {
  while (bytes_ > bytes_max) drop_oldest();
}

void OrderHistory::expire(MonoTime kept_before) {
  while (!kept_.empty() && kept_.front().at < kept_before) drop_oldest();
}

void OrderHistory::drop_oldest() {
  const Kept& oldest = kept_.front();
  base_ = position_of(oldest.item);
  bytes_ -= oldest.bytes;
  room_.bytes_ -= oldest.bytes;
  kept_.pop_front();
  if (kept_.empty()) std::erase(room_.holding_, this);
}

// As long as nobody has more than its share there is room, so this walk is as
// rare as newcomers are.
void HistoryRoom::make_room() {
  if (bytes_ <= bytes_max_) return;
  const std::size_t share = bytes_max_ / holding_.size();
  for (std::size_t n = holding_.size(); n > 0; --n) holding_[n - 1]->trim(share);
}

wire::Position OrderHistory::end() const noexcept {
  return kept_.empty() ? base_ : position_of(kept_.back().item);
}

std::deque<OrderHistory::Kept>::const_iterator OrderHistory::after(
    const wire::Position& position) const noexcept {
  return std::ranges::upper_bound(kept_, position, {},
                                  [](const Kept& kept) { return position_of(kept.item); });
}

const OrderItem* OrderHistory::next_after(const wire::Position& position) const noexcept {
  const auto found = after(position);
  return found == kept_.end() ? nullptr : &found->item;
}

Duration OrderHistory::age_of(const wire::Position& position, MonoTime now) const noexcept {
  const auto next = after(position);
  return next == kept_.begin() ? Duration::zero() : now - std::prev(next)->at;
}

void OrderHistory::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Kept& kept : kept_) collect_peers_of(kept.item, in_use);
}

void OrderHistory::withhold(const wire::Position& position, Withheld why) noexcept {
  const auto next = after(position);
  if (next == kept_.begin()) return;
  Kept& kept = kept_[static_cast<std::size_t>(next - kept_.begin()) - 1];
  if (position_of(kept.item) == position) kept.withheld = why;
}

Withheld OrderHistory::withheld(const wire::Position& position) const noexcept {
  const auto next = after(position);
  if (next == kept_.begin()) return Withheld::no;
  const Kept& kept = *std::prev(next);
  return position_of(kept.item) == position ? kept.withheld : Withheld::no;
}

wire::Position OrderHistory::find(const wire::MessageId& id) const noexcept {
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    const auto* multicast = std::get_if<wire::Multicast>(&kept->item);
    if (multicast && multicast->id == id) return position_of(kept->item);
  }
  return {};
}

}  // namespace canopy::scribe
