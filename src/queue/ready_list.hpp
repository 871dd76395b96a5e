// The head of an ordered table, read ahead: its next entries, due or not, as few
// as it is worth to keep in memory. It knows up to where it has read, so that it
// neither reads twice nor walks over what was deleted: not over what came and went
// in the future either, as messages in flight do. An empty queue costs no read.
//
// Entries leave it when somebody takes them; giving one back, deleting it from
// the store and hiding what is taken from later reads are the owner's business.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>

#include "base/buffer.hpp"
#include "queue/keys.hpp"
#include "queue/position.hpp"
#include "store/key_value_store.hpp"

namespace canopy::queue {

class ReadyList {
 public:
  struct Item {
    Position at;
    Buffer value;
  };
  using IsTaken = std::function<bool(const Position&, std::string_view value)>;

  // Reads one lane of the table, from `start` on.
  ReadyList(keys::Table table, QueueNumber queue, Position start, std::size_t items_max,
            std::size_t bytes_max);

  // The next entry, not taken from the list; nullptr if none is due.
  const Item* front(const store::Reader& reader, Millis now, const IsTaken& is_taken);
  Item take();

  // The first entry, whether or not it is due, stays; it was front().
  void put_back(Item item);

  // An entry that comes into the store with the current batch.
  void added(const Position& at, const Buffer& value);
  void removed(const Position& at);

  // Somebody else has seen that nothing before this is left that nobody has taken.
  void skip_to(const Position& at);

  // Everything is gone, and what comes has higher positions.
  void cleared();

  // When the next entry is due: nothing if there is none; a time in the past if the
  // table has to be read to know.
  std::optional<Millis> next_due() const;

  // Nothing of the lane that is not taken lies before it.
  Position low() const;

  // Has seen all of the table, and nothing is left.
  bool drained() const { return items_.empty() && caught_up_; }

 private:
  void fill(const store::Reader& reader, const IsTaken& is_taken);
  bool full() const { return items_.size() >= items_max_ || bytes_ >= bytes_max_; }
  void push(const Position& at, Buffer value);
  void drop_last();

  keys::Table table_;
  QueueNumber queue_;
  std::size_t items_max_;
  std::size_t bytes_max_;
  std::deque<Item> items_;  // in order: all before next_ that nobody has taken
  std::size_t bytes_ = 0;
  Position next_;           // not read from here on
  bool caught_up_ = false;  // ... where there is nothing
};

}  // namespace canopy::queue
