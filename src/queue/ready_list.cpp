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
  if (items_.empty()) fill(reader, now, is_taken);
  return items_.empty() ? nullptr : &items_.front();
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

void ReadyList::fill(const store::Reader& reader, Millis now, const IsTaken& is_taken) {
  if (caught_up_ && (!beyond_ || beyond_->time > now)) return;
  Position end{next_.lane, std::numeric_limits<Millis>::max(),
               std::numeric_limits<std::uint64_t>::max()};
  const auto cursor = reader.range(keys::of(table_, queue_, next_), keys::of(table_, queue_, end));
  caught_up_ = false;
  beyond_.reset();
  for (; cursor->valid(); cursor->next()) {
    const Position at = keys::position_of(cursor->key());
    if (at.time > now) {
      beyond_ = at;
      break;
    }
    if (items_.size() >= items_max_ || bytes_ >= bytes_max_) return;
    next_ = at.next();
    if (is_taken(at, cursor->value())) continue;
    bytes_ += cursor->value().size();
    items_.push_back({at, Buffer::copy_of(cursor->value())});
  }
  check(*cursor);
  caught_up_ = true;
}

void ReadyList::added(const Position& at, const Buffer& value, Millis now) {
  if (at < next_) {
    // Behind what was read: a command that was older than the read.
    const auto place = std::ranges::lower_bound(items_, at, {}, &Item::at);
    items_.insert(place, {at, value});
    bytes_ += value.size();
    return;
  }
  if (!caught_up_) return;
  const bool nothing_between = !beyond_ || at < *beyond_;
  if (at.time > now) {
    if (nothing_between) beyond_ = at;
  } else if (nothing_between && items_.size() < items_max_ && bytes_ < bytes_max_) {
    items_.push_back({at, value});
    bytes_ += value.size();
    next_ = at.next();
  } else {
    caught_up_ = false;
    beyond_.reset();
  }
}

void ReadyList::removed(const Position& at) {
  const auto found = std::ranges::lower_bound(items_, at, {}, &Item::at);
  if (found != items_.end() && found->at == at) {
    bytes_ -= found->value.size();
    items_.erase(found);
  }
  if (beyond_ == at) {
    caught_up_ = false;
    beyond_.reset();
  }
}

void ReadyList::cleared() {
  items_.clear();
  bytes_ = 0;
  caught_up_ = true;
  beyond_.reset();
}

std::optional<Millis> ReadyList::next_due() const {
  if (!items_.empty() || !caught_up_) return 0;
  return beyond_ ? std::optional(beyond_->time) : std::nullopt;
}

Position ReadyList::low() const {
  return items_.empty() ? next_ : std::min(items_.front().at, next_);
}

}  // namespace canopy::queue
