#include "queue/queue.hpp"

#include <algorithm>

#include "queue/message_record.hpp"

namespace canopy::queue {

namespace {

// After a start: messages that are still delayed, in a table whose order need not help.
void count_delayed(DelayCounter& delayed, const store::Reader& reader, keys::Table table,
                   QueueNumber queue, Millis now) {
  const std::string first = keys::of(table, queue);
  const auto cursor = reader.range(first, keys::after(first));
  for (; cursor->valid(); cursor->next()) {
    if (table == keys::message) {
      delayed.add(keys::position_of(cursor->key()).time, now);
    } else if (const auto times = times_of(cursor->value())) {
      delayed.add(times->sent + times->delay, now);
    }
  }
  check(*cursor);
}

}  // namespace

Queue::Queue(Definition from, const Counters& counted, const Limits& limits,
             const store::Reader& reader, Millis now)
    : definition(std::move(from)), counters(counted) {
  read_settings(limits);
  if (definition.fifo()) {
    fifo_messages =
        std::make_unique<FifoMessages>(definition.number, limits, reader, counters.head, now);
  } else {
    standard_messages = std::make_unique<StandardMessages>(definition.number, limits, counters.head,
                                                           counters.grouped, counters.noted);
  }
  if (counters.delayed_until > now) {
    count_delayed(delayed, reader, fifo() ? keys::fifo_message : keys::message, definition.number,
                  now);
  }
}

void Queue::read_settings(const Limits& limits) {
  settings = settings_of(definition.attributes, definition.fifo(), limits);
  if (definition.scope_changed != 0) {
    settings.scope_from = definition.scope_changed + limits.scope_change_ms;
  }
  policy.reset();
  const auto found = definition.attributes.find("Policy");
  if (found != definition.attributes.end()) policy = Policy::parse(found->second);
}

std::uint64_t Queue::visible(Millis now) {
  const std::uint64_t hidden = in_flight(now) + delayed.count(now);
  return counters.messages - std::min(counters.messages, hidden);
}

}  // namespace canopy::queue
