// What a FIFO queue remembers of deduplication ids: the message that had it, for
// five minutes, deleted or not. Ids lie in buckets of their age, so that what is
// too old goes with one range and without having been counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "queue/command.hpp"
#include "queue/transaction.hpp"

namespace canopy::queue {

struct Original {
  Uuid id;
  std::uint64_t sequence = 0;
};

class Deduplication {
 public:
  Deduplication(QueueNumber queue, Millis window) : queue_(queue), window_(window) {}

  // The message that had this id within the window before `time`.
  std::optional<Original> find(const Transaction& tx, std::string_view id, Millis time) const;
  void remember(Transaction& tx, std::string_view id, const Original& message, Millis time) const;
  void forget_before(Transaction& tx, Millis time) const;

 private:
  std::uint64_t bucket(Millis time) const;

  QueueNumber queue_;
  Millis window_;
};

}  // namespace canopy::queue
