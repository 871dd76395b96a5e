// Questions to other peers that are asked for people who look at the ring, and
// their answers by nonce, each within a time.
//
// On the overlay's thread; callbacks never run within ask functions. What this
// layer asks and what Pastry asks by the same messages is told apart by the
// nonce, drawn at random here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/time.hpp"
#include "node/timer_queue.hpp"
#include "wire/env.hpp"
#include "wire/message.hpp"

namespace canopy::node {

class Questions {
 public:
  using StateAnswer = std::function<void(const wire::StateReply* reply)>;       // null: none came
  using TraceAnswer = std::function<void(const wire::RouteTraceReply* reply)>;  // null: none came

  Questions(wire::Env& env, TimerQueue& timers, Duration time_max)
      : env_(env), timers_(timers), time_max_(time_max) {}

  // Asks a peer for its leaf set.
  void leaf_set_of(PeerRef peer, StateAnswer answer);

  // The nonce under which the caller has to ask for a trace.
  std::uint32_t expect_trace(TraceAnswer answer);

  // True if it was an answer to one of these questions; else it is Pastry's.
  bool offer(const wire::Message& message);

  // Drops everything without a callback.
  void clear();

 private:
  template <class Reply>
  struct Pending {
    std::function<void(const Reply*)> answer;
    TimerQueue::Entry timeout = TimerQueue::none;
  };
  template <class Reply>
  using Table = std::map<std::uint32_t, Pending<Reply>>;

  template <class Reply>
  std::uint32_t expect(Table<Reply>& table, std::function<void(const Reply*)> answer);
  template <class Reply>
  bool answer(Table<Reply>& table, const Reply& reply);

  wire::Env& env_;
  TimerQueue& timers_;
  Duration time_max_;
  Table<wire::StateReply> states_;
  Table<wire::RouteTraceReply> traces_;
};

}  // namespace canopy::node
