#include "sim/timing_wheel.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace canopy::sim {

namespace {

// The first set bit at or after `from`; the number of bits if there is none.
template <std::size_t Words>
std::size_t next_set(const std::array<std::uint64_t, Words>& bits, std::size_t from) noexcept {
  for (std::size_t word = from / 64; word < Words; ++word, from = word * 64) {
    const std::uint64_t rest = bits[word] >> (from % 64);
    if (rest != 0) return from + static_cast<std::size_t>(std::countr_zero(rest));
  }
  return Words * 64;
}

}  // namespace

std::uint64_t TimingWheel::tick_of(MonoTime at) noexcept {
  return static_cast<std::uint64_t>(at.time_since_epoch().count()) >> tick_bits;
}

std::uint64_t TimingWheel::key(const Event& event, std::size_t position) noexcept {
  const auto us = static_cast<std::uint64_t>(event.at.time_since_epoch().count());
  return (us & ((std::uint64_t{1} << tick_bits) - 1)) << 32 | position;
}

void TimingWheel::schedule(const Event& event) {
  CANOPY_ASSERT(event.at.time_since_epoch().count() >= 0 && tick_of(event.at) >= tick_);
  ++size_;
  if (tick_of(event.at) != tick_) return place(event);
  const std::uint64_t added = key(event, current_.size());
  current_.push_back(event);
  const auto from = order_.begin() + static_cast<std::ptrdiff_t>(position_);
  order_.insert(std::upper_bound(from, order_.end(), added), added);
}

std::optional<Event> TimingWheel::pop(MonoTime limit) {
  if (position_ == order_.size() && !advance(limit)) return std::nullopt;
  const Event& event = current_[static_cast<std::uint32_t>(order_[position_])];
  if (event.at > limit) return std::nullopt;
  ++position_;
  --size_;
  return event;
}

std::uint32_t TimingWheel::new_chunk() {
  if (free_chunk_ == none) {
    chunks_.emplace_back();
    return static_cast<std::uint32_t>(chunks_.size() - 1);
  }
  const std::uint32_t index = free_chunk_;
  free_chunk_ = chunks_[index].next;
  chunks_[index].used = 0;
  chunks_[index].next = none;
  return index;
}

// Into the level of the highest digit in which its tick differs from the current one.
void TimingWheel::place(const Event& event) {
  const std::uint64_t tick = tick_of(event.at);
  const unsigned level = (63U - static_cast<unsigned>(std::countl_zero(tick ^ tick_))) / level_bits;
  CANOPY_ASSERT(level < levels);
  const std::size_t index = tick >> (level * level_bits) & (slots_per_level - 1);
  Slot& slot = levels_[level].slots[index];
  if (slot.head == none) {
    slot.head = slot.tail = new_chunk();
    levels_[level].occupied[index / 64] |= std::uint64_t{1} << (index % 64);
  } else if (chunks_[slot.tail].used == chunks_[slot.tail].events.size()) {
    const std::uint32_t added = new_chunk();
    chunks_[slot.tail].next = added;
    slot.tail = added;
  }
  Chunk& chunk = chunks_[slot.tail];
  chunk.events[chunk.used++] = event;
}

// Moves to the next slot that holds something, cascading on the way, but not
// to one that begins after `limit`.
bool TimingWheel::advance(MonoTime limit) {
  current_.clear();
  order_.clear();
  position_ = 0;
  const std::uint64_t limit_tick = tick_of(limit);
  while (current_.empty()) {
    unsigned level = 0;
    std::size_t slot = slots_per_level;
    for (; level < levels; ++level) {
      const std::size_t here = tick_ >> (level * level_bits) & (slots_per_level - 1);
      slot = next_set(levels_[level].occupied, here + 1);
      if (slot < slots_per_level) break;
    }
    if (level == levels) return false;
    const unsigned shift = level * level_bits;
    const std::uint64_t above = tick_ >> (shift + level_bits) << (shift + level_bits);
    const std::uint64_t begin = above | std::uint64_t{slot} << shift;
    if (begin > limit_tick) return false;
    tick_ = begin;
    enter(level, slot);
  }
  order_current();
  return true;
}

// Empties a slot: what is for the current tick becomes current, the rest goes down.
void TimingWheel::enter(unsigned level, std::size_t index) {
  Slot& slot = levels_[level].slots[index];
  std::uint32_t at = slot.head;
  slot = {};
  levels_[level].occupied[index / 64] &= ~(std::uint64_t{1} << (index % 64));
  while (at != none) {
    for (std::uint32_t i = 0; i < chunks_[at].used; ++i) {
      const Event event = chunks_[at].events[i];  // place() may move the chunks
      if (tick_of(event.at) == tick_) {
        current_.push_back(event);
      } else {
        place(event);
      }
    }
    const std::uint32_t next = chunks_[at].next;
    chunks_[at].next = free_chunk_;
    free_chunk_ = at;
    at = next;
  }
}

void TimingWheel::order_current() {
  for (std::size_t i = 0; i < current_.size(); ++i) order_.push_back(key(current_[i], i));
  std::sort(order_.begin(), order_.end());
}

}  // namespace canopy::sim
