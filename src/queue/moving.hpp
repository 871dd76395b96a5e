// Messages that move from queue to queue, dead letters and those of move tasks:
// out of the source into a durable outbox, from there into the target, which
// leaves out what it has already, and then out of the outbox. So nothing is lost
// or doubled, wherever the two queues live.
#pragma once

#include <map>
#include <vector>

#include "queue/host.hpp"
#include "queue/sending.hpp"
#include "queue/state.hpp"

namespace canopy::queue {

class Moving {
 public:
  Moving(State& state, Sending& sending) : state_(state), sending_(sending) {}

  // Whether dead letters of the queue have where to go now.
  bool has_target(const Queue& queue);
  // Commands for what a pick found besides messages to give.
  void dispose(Queue& queue, Pick& pick);
  // `targets`: as the messages.
  void move(Queue& queue, std::vector<PickedMessage> messages, std::vector<QueueName> targets,
            std::uint64_t task);

  // Messages that left the source.
  std::uint64_t apply(Command& command, command::MoveOut& out);
  void apply(const Command& command, const command::Deliver& deliver);
  void apply(const command::Delivered& delivered);
  void abandon(const command::MoveOut& out);
  void abandon_delivery();

  // Keeps the outbox going.
  void tick();
  bool has_work() const { return window_.empty() && read_upto_ < state_.service.outbox; }
  void start() { read_upto_ = state_.service.outbox_delivered; }

 private:
  struct Entry {
    std::uint64_t sequence = 0;
    QueueNumber source = 0;
    QueueName target;
    Buffer record;
  };
  static std::string encode(QueueNumber source, const command::MovedMessage& message);
  static Entry decode(std::uint64_t sequence, std::string_view bytes);

  void bury(MessageRecord& record, const Queue& queue, const PickedMessage& message) const;
  void revive(MessageRecord& record);
  void move_dead(Queue& queue, std::vector<PickedMessage> messages);
  void emit_notes(Queue& queue);
  std::vector<Entry> read_window();
  static command::NewMessage message_of(const Entry& entry, const Queue& target, Millis due);
  void take_in(Queue& queue, const command::Deliver& deliver, Millis time);
  void send_back(const command::Deliver& deliver, Millis time);
  void finish_window();

  State& state_;
  Sending& sending_;
  std::uint64_t read_upto_ = 0;
  std::vector<Entry> window_;        // on the way into targets
  std::size_t deliveries_left_ = 0;  // commands of the window
};

}  // namespace canopy::queue
