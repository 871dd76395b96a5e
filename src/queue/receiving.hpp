// ReceiveMessage with its long polls, and PeekMessage.
//
// A standard queue answers at once: who has received what is known to its leader
// alone. A FIFO queue answers when the command that says so was applied. A
// receive that finds only dead letters waits until they have arrived where they
// belong, so that who looks there next finds them.
#pragma once

#include "queue/host.hpp"
#include "queue/moving.hpp"
#include "queue/state.hpp"

namespace canopy::queue {

class Receiving {
 public:
  Receiving(State& state, Moving& moving) : state_(state), moving_(moving) {}

  Prepared prepare(ReceiveMessage action, const Caller& caller, Token token);
  Outcome peek(const PeekMessage& action, const Caller& caller);

  Outcome apply(Command& command, command::Receive& receive);
  void apply(const command::NoteReceives& notes);
  void apply(const Command& command, const command::PlaceGroup& place);
  void abandon(const Command& command, const command::Receive& receive);
  void abandon(const command::PlaceGroup& place);

  // Gives waiting requests what has become available, and ends those whose time
  // is up.
  void serve(Host& host);
  void wake_all();

  // An answer could not be delivered: as if it had not been given.
  void give_back(const QueueName& queue, const std::vector<std::string>& handles);

  std::uint64_t waiters_refused() const { return waiters_refused_; }

 private:
  using Taken = std::variant<std::monostate, ReceiveMessageResult, Command, Error>;

  std::optional<Error> check(const ReceiveMessage& action) const;
  Taken take(Queue& queue, const ReceiveMessage& action);
  Taken take_standard(Queue& queue, const ReceiveMessage& action, const PickRules& rules);
  Taken take_fifo(Queue& queue, const ReceiveMessage& action, const PickRules& rules);
  PickRules rules_of(Queue& queue, const ReceiveMessage& action);
  std::optional<ReceiveMessageResult> repeat(Queue& queue, const ReceiveMessage& action);
  // `term`: in which it was received.
  Message answer(const Queue& queue, const PickedMessage& picked, std::uint64_t term,
                 const ReceiveMessage& action);
  Prepared wait(Queue& queue, ReceiveMessage action, Token token);
  bool serve_first(Queue* queue, Waiters::Order order, Host& host);
  void serve_queue(QueueNumber number, Host& host);

  State& state_;
  Moving& moving_;
  std::uint64_t waiters_refused_ = 0;
};

}  // namespace canopy::queue
