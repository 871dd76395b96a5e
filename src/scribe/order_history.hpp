// The recent items of one ordered group, kept so that others can be given what
// they have missed: a stretch of the stream without a hole, from base() on.
//
// Bounded in bytes, for the group and for all of a node together, and in age.
// What falls out at the old end moves base() on. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/time.hpp"
#include "scribe/order_item.hpp"

namespace canopy::scribe {

class OrderHistory;

enum class Withheld : std::uint8_t {
  no,
  had,        // it has had a place before
  overtaken,  // a later one of its publisher has come first: it is missed
};

// What the histories of a node share. When it is full, each keeps its share.
class HistoryRoom {
 public:
  explicit HistoryRoom(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  std::size_t bytes() const noexcept { return bytes_; }

 private:
  friend class OrderHistory;
  void make_room();

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::vector<OrderHistory*> holding_;  // those that hold something
};

class OrderHistory {
 public:
  OrderHistory(HistoryRoom& room, std::size_t bytes_max) noexcept
      : room_(room), bytes_max_(bytes_max) {}
  ~OrderHistory() { begin({}); }
  OrderHistory(const OrderHistory&) = delete;
  OrderHistory& operator=(const OrderHistory&) = delete;

  // Forgets all: the stream goes on from here.
  void begin(const wire::Position& base);
  // The next item of the stream.
  void append(OrderItem item, MonoTime now);
  void expire(MonoTime kept_before);

  // The position on which the oldest kept item follows.
  const wire::Position& base() const noexcept { return base_; }
  // The position of the latest item, whether it is still kept or not.
  wire::Position end() const noexcept;
  // Whether all that follows this position is there.
  bool covers(const wire::Position& after) const noexcept { return after >= base_; }
  bool empty() const noexcept { return kept_.empty(); }
  std::size_t size() const noexcept { return kept_.size(); }
  MonoTime oldest() const noexcept { return kept_.empty() ? never : kept_.front().at; }

  // The first item after the position; null at the end.
  const OrderItem* next_after(const wire::Position& position) const noexcept;
  // How long the item at this position has been kept.
  Duration age_of(const wire::Position& position, MonoTime now) const noexcept;
  // Members do not get the message at this position.
  void withhold(const wire::Position& position, Withheld why) noexcept;
  Withheld withheld(const wire::Position& position) const noexcept;
  // Where a message lies; none if it is not here any more.
  wire::Position find(const wire::MessageId& id) const noexcept;
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  friend class HistoryRoom;
  struct Kept {
    OrderItem item;
    std::size_t bytes = 0;
    MonoTime at{};
    Withheld withheld = Withheld::no;
  };
  std::deque<Kept>::const_iterator after(const wire::Position& position) const noexcept;
  void trim(std::size_t bytes_max);
  void drop_oldest();

  HistoryRoom& room_;
  std::size_t bytes_max_;
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
  wire::Position base_;
};

// A small body in a block that it shares with much else, in one of its own.
OrderItem unshared(OrderItem item);

}  // namespace canopy::scribe
