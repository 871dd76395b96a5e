#include "queue/ready_list.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"
#include "queue/transaction.hpp"

namespace canopy::queue {

ReadyList::ReadyList(keys::Table table, QueueNumber queue, Position start, std::size_t items_max,
                     std::size_t bytes_max)
    : table_(table), queue_(queue), items_max_(items_max), bytes_max_(bytes_max), next_(start) {}

const ReadyList::Item* ReadyList::front(const store::Reader& reader, Millis now,
                                        const IsTaken& is_taken) {
  if (items_.empty() && !caught_up_) fill(reader, is_taken);
  return items_.empty() || items_.front().at.time > now ? nullptr : &items_.front();
}

ReadyList::Item ReadyList::take() {
  CANOPY_ASSERT(!items_.empty());
  Item item = std::move(items_.front());
  items_.pop_front();
  bytes_ -= item.value.size();
  return item;
}

void ReadyList::put_back(Item item) {
  bytes_ += item.value.size();
  items_.push_front(std::move(item));
}

void ReadyList::push(const Position& at, Buffer value) {
  bytes_ += value.size();
  items_.push_back({at, std::move(value)});
}

void ReadyList::drop_last() {
  next_ = items_.back().at;
  caught_up_ = false;
  bytes_ -= items_.back().value.size();
  items_.pop_back();
}

void ReadyList::fill(const store::Reader& reader, const IsTaken& is_taken) {
  Position end{next_.lane, std::numeric_limits<Millis>::max(),
               std::numeric_limits<std::uint64_t>::max()};
  const auto cursor = reader.range(keys::of(table_, queue_, next_), keys::of(table_, queue_, end));
  for (; cursor->valid(); cursor->next()) {
    if (full()) return;
    const Position at = keys::position_of(cursor->key());
    next_ = at.next();
    if (!is_taken(at, cursor->value())) push(at, Buffer::copy_of(cursor->value()));
  }
  check(*cursor);
  caught_up_ = true;
}

void ReadyList::added(const Position& at, const Buffer& value) {
  if (at < next_) {
    const auto place = std::ranges::lower_bound(items_, at, {}, &Item::at);
    items_.insert(place, {at, value});
    bytes_ += value.size();
    while (items_.size() > items_max_ || (bytes_ > bytes_max_ && items_.size() > 1)) drop_last();
  } else if (caught_up_ && full()) {
    caught_up_ = false;
  } else if (caught_up_) {
    push(at, value);
    next_ = at.next();
  }
}

void ReadyList::removed(const Position& at) {
  const auto found = std::ranges::lower_bound(items_, at, {}, &Item::at);
  if (found == items_.end() || found->at != at) return;
  bytes_ -= found->value.size();
  items_.erase(found);
}

void ReadyList::skip_to(const Position& at) {
  if (items_.empty()) next_ = std::max(next_, at);
}

void ReadyList::cleared() {
  items_.clear();
  bytes_ = 0;
  caught_up_ = true;
}

std::optional<Millis> ReadyList::next_due() const {
  if (!items_.empty()) return items_.front().at.time;
  return caught_up_ ? std::nullopt : std::optional<Millis>(0);
}

Position ReadyList::low() const { return items_.empty() ? next_ : items_.front().at; }

}  // namespace canopy::queue
