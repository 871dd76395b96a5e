// Message move tasks: dead letters go back to where they came from, or to a
// queue named, in the background, at a limited rate, one task a queue at a time.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "queue/moving.hpp"
#include "queue/state.hpp"

namespace canopy::queue {

class MoveTasks {
 public:
  MoveTasks(State& state, Moving& moving) : state_(state), moving_(moving) {}

  Prepared prepare(StartMessageMoveTask action, const Caller& caller);
  Prepared prepare(const CancelMessageMoveTask& action, const Caller& caller);
  Outcome answer(const ListMessageMoveTasks& action, const Caller& caller);

  Outcome apply(const Command& command, const command::StartTask& start);
  Outcome apply(const Command& command, const command::EndTask& end);
  // Of a MoveOut that belongs to a task.
  void moved(const command::MoveOut& out, std::uint64_t messages);
  void abandon(const command::MoveOut& out);
  void abandon(const command::EndTask& end);

  // Finds the tasks that run, after a start.
  void start();
  void tick();
  std::optional<Millis> next_deadline() const;

 private:
  struct Task {
    std::uint64_t number = 0;
    std::string status;
    std::string destination_arn;
    std::optional<std::int64_t> messages_per_second_max;
    std::uint64_t moved = 0;
    std::uint64_t to_move = 0;
    std::string failure_reason;
    Millis started = 0;
  };
  struct Running {
    std::uint64_t number = 0;
    Millis next_step = 0;
    bool waits = false;  // for a command
  };

  static std::string encode(const Task& task);
  static Task decode(std::string_view bytes);
  std::optional<Task> find(QueueNumber queue, std::uint64_t number) const;
  std::string id_of(QueueNumber queue, std::uint64_t task) const;
  std::string handle_of(const Queue& queue, std::uint64_t task) const;
  std::optional<Task> find_by_id(QueueNumber queue, const std::string& id) const;
  void store(QueueNumber queue, const Task& task);
  boost::system::result<Queue*, Error> open(const std::string& arn, const Caller& caller,
                                            std::string_view parameter, std::string_view action);
  bool has_sources(const Queue& queue) const;
  void step(QueueNumber number, Running& running);
  void end(QueueNumber queue, Running& running, std::string status, std::string reason);

  State& state_;
  Moving& moving_;
  std::map<QueueNumber, Running> running_;
};

}  // namespace canopy::queue
