// A queue that is loaded: its definition, its counters, and what its leader
// knows of its messages. Belongs to the catalogue.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "queue/attributes.hpp"
#include "queue/counters.hpp"
#include "queue/definition.hpp"
#include "queue/delay_counter.hpp"
#include "queue/fifo_messages.hpp"
#include "queue/policy.hpp"
#include "queue/standard_messages.hpp"

namespace canopy::queue {

struct Queue {
  Queue(Definition from, const Counters& counted, const Limits& limits, const store::Reader& reader,
        Millis now);

  // After a change of its attributes.
  void read_settings(const Limits& limits);

  QueueNumber number() const { return definition.number; }
  bool fifo() const { return settings.fifo; }

  std::size_t in_flight(Millis now) {
    return fifo_messages ? fifo_messages->in_flight(now) : standard_messages->in_flight(now);
  }
  std::uint64_t visible(Millis now);
  std::optional<Millis> next_available(Millis now) {
    return fifo_messages ? fifo_messages->next_available() : standard_messages->next_available(now);
  }
  Position head() const {
    return fifo_messages ? fifo_messages->head() : standard_messages->head();
  }
  // Nothing of it is only in memory.
  bool idle() const {
    return !dirty && moving == 0 &&
           (fifo_messages ? fifo_messages->idle() : standard_messages->idle());
  }

  Definition definition;
  Settings settings;
  std::optional<Policy> policy;
  Counters counters;
  bool dirty = false;  // counters are not in the store
  DelayCounter delayed;
  std::unique_ptr<StandardMessages> standard_messages;  // one of the two
  std::unique_ptr<FifoMessages> fifo_messages;

  // Known to the leader alone.
  std::uint64_t moving = 0;  // messages on the way out, not delivered yet
  bool being_swept = false;  // housekeeping is on the way
  std::string swept_upto;    // message group
  std::uint64_t swept_lane = 0;
  std::list<QueueNumber>::iterator used;  // place in the catalogue's order of use
};

}  // namespace canopy::queue
