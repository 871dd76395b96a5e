// What a gateway asks: the queue service, as its I/O threads see it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "queue/actions.hpp"

namespace canopy::gateway {

// One action under way, on the side of who asked.
class Call {
 public:
  virtual ~Call() = default;

  // Whether nobody waits for the outcome any more: the client has hung up. A
  // service looks just before it takes messages for a receive, so that none is
  // given to a dead connection. Any thread.
  virtual bool cancelled() const noexcept = 0;

  // Once, from any thread, also from within Service::call(). Does not block.
  virtual void done(queue::Outcome outcome) = 0;
};

struct Ask {
  queue::Caller caller;
  queue::Action action;
  std::shared_ptr<Call> call;
};

// All functions can be called from any thread and do not block.
class Service {
 public:
  virtual ~Service() = default;

  // Ends with call->done(), at the latest when the wait time of a receive is
  // over. A service that has no room answers service_unavailable at once.
  virtual void call(queue::Caller caller, queue::Action action, std::shared_ptr<Call> call) = 0;

  // Several at once, which may cost less. They are moved from.
  virtual void call_all(std::vector<Ask>& asks) {
    for (Ask& ask : asks) call(std::move(ask.caller), std::move(ask.action), std::move(ask.call));
  }

  // The call, which may wait, has become cancelled(): it need not be kept, and
  // done() will be ignored. It may be over already.
  virtual void cancelled(const std::shared_ptr<Call>& call) = 0;

  // The answer to a receive reached nobody: its messages are available again as
  // if they had not been received.
  virtual void give_back(queue::QueueName queue, std::vector<std::string> receipt_handles) = 0;

  // Why the service does not work at the moment; empty: it does.
  virtual std::string problem() const { return {}; }
};

}  // namespace canopy::gateway
