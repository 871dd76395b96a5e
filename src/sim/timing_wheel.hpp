// The future of a simulation: events in the order (time, sequence of scheduling).
//
// A hierarchical timing wheel (Varghese and Lauck, SOSP 1987): five levels of
// 256 slots, the lowest of 1.024 ms each, so that scheduling and popping cost
// the same whatever is pending. A slot keeps its events in scheduling order
// (cascading a slot of a higher level keeps it too, and nothing is put into a
// lower slot before its range has been cascaded), so a stable sort by time when
// a slot's turn comes yields the total order without storing sequence numbers.
// Events are 24 bytes and lie in pooled chunks, so that memory is read and
// written in sequence. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"

namespace canopy::sim {

struct Event {
  MonoTime at;
  std::uint32_t subject = 0;  // what it is for: the meaning is the scheduler's
  std::uint32_t detail = 0;
  std::uint32_t kind = 0;
};

class TimingWheel {
 public:
  // `event.at` must not be before the last time popped or passed to pop().
  void schedule(const Event& event);

  // The next event unless it is later than `limit`.
  std::optional<Event> pop(MonoTime limit);

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  static constexpr unsigned tick_bits = 10;  // microseconds in a slot of the lowest level
  static constexpr unsigned level_bits = 8;
  static constexpr unsigned levels = 5;
  static constexpr std::size_t slots_per_level = std::size_t{1} << level_bits;
  static constexpr std::uint32_t none = 0xffffffff;

  struct Chunk {
    std::array<Event, 21> events;
    std::uint32_t used = 0;
    std::uint32_t next = none;
  };
  struct Slot {
    std::uint32_t head = none;
    std::uint32_t tail = none;
  };
  struct Level {
    std::array<Slot, slots_per_level> slots;
    std::array<std::uint64_t, slots_per_level / 64> occupied{};
  };

  static std::uint64_t tick_of(MonoTime at) noexcept;
  static std::uint64_t key(const Event& event, std::size_t position) noexcept;
  std::uint32_t new_chunk();
  void place(const Event& event);
  bool advance(MonoTime limit);
  void enter(unsigned level, std::size_t slot);
  void order_current();

  std::array<Level, levels> levels_;
  std::vector<Chunk> chunks_;
  std::uint32_t free_chunk_ = none;
  std::vector<Event> current_;        // of the current slot, in scheduling order
  std::vector<std::uint64_t> order_;  // their keys, sorted: (time within the slot, position)
  std::size_t position_ = 0;          // in order_, of the next one
  std::uint64_t tick_ = 0;            // the current slot of the lowest level
  std::size_t size_ = 0;
};

}  // namespace canopy::sim
