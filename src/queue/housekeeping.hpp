// What has to be done in queues as time passes, though nobody asks: messages
// past their retention go, deduplication ids past their window are forgotten. A
// queue says in the store when it is due, so that idle ones cost nothing.
#pragma once

#include "queue/state.hpp"

namespace canopy::queue {

class Housekeeping {
 public:
  explicit Housekeeping(State& state) : state_(state) {}

  void tick();
  void apply(const Command& command, const command::Housekeeping& done);
  void abandon(const command::Housekeeping& done);

  // No queue is due before.
  Millis next_deadline() const { return state_.next_housekeeping; }

 private:
  struct Found {
    std::vector<command::MessagePlace> expired;
    Millis oldest_kept = 0;  // 0: no message was seen that stays
    bool all = true;         // looked at everything
  };
  void sweep(Queue& queue);
  Found look_standard(Queue& queue) const;
  bool look_lane(const Queue& queue, Position& from, const std::string& end, Millis limit,
                 Found& found) const;
  Found look_fifo(Queue& queue) const;

  State& state_;
};

}  // namespace canopy::queue
