// SendMessage and SendMessageBatch, and putting messages into queues.
#pragma once

#include "queue/message_record.hpp"
#include "queue/state.hpp"

namespace canopy::queue {

class Sending {
 public:
  explicit Sending(State& state) : state_(state) {}

  Prepared prepare(SendMessage action, const Caller& caller);
  Prepared prepare(SendMessageBatch action, const Caller& caller);

  Outcome apply(Command& command, command::Send& send);

  // Without looking at deduplication ids; its sequence.
  std::uint64_t put(Queue& queue, const command::NewMessage& message, Millis time);

  std::optional<Error> check(const Queue& queue, const SendEntry& entry) const;
  // Of an entry that was checked; `sent` gets what is to be answered for it, if
  // anything is.
  command::NewMessage make(const Queue& queue, SendEntry entry, const Caller& caller, Millis time,
                           Sent* sent);
  // Unless a FIFO queue knows its deduplication id.
  void accept(Queue& queue, const command::NewMessage& message, Millis time, Sent* sent);

 private:
  std::optional<Error> check_fifo(const Queue& queue, const SendEntry& entry) const;
  std::optional<Error> check_entry(const Queue& queue, const SendEntry& entry,
                                   std::size_t number) const;
  // Adds the message to the command, and what is to be answered for it.
  void add(const Queue& queue, SendEntry entry, const Caller& caller, Command& command);
  void describe(const SendEntry& entry, const MessageRecord& record, Sent& sent);

  State& state_;
};

}  // namespace canopy::queue
