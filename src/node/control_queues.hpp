// The queues of a gateway, as the control socket reaches them: actions in AWS
// JSON from their owner, past HTTP and signatures.
//
// One thread, that of the io_context. Both it and the gateway must outlive the
// time until close().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <canopy/gateway.hpp>

#include "gateway/front.hpp"
#include "gateway/pending_call.hpp"
#include "wire/control_messages.hpp"

namespace canopy::node {

// A call under way. Destroying it gives it up: a receive that waits gets nothing
// any more, and messages that are on their way to it go back to their queue.
class QueueRequest final : private gateway::PendingCall::Owner {
 public:
  using Done = std::function<void(queue::Outcome outcome)>;

  QueueRequest(std::shared_ptr<gateway::Mailbag> mailbag, gateway::Service& service,
               gateway::Work work, Done done);
  ~QueueRequest();
  QueueRequest(const QueueRequest&) = delete;
  QueueRequest& operator=(const QueueRequest&) = delete;

 private:
  void on_outcome(queue::Outcome outcome) override;

  std::shared_ptr<gateway::PendingCall> call_;  // none: it is over
  Done done_;
};

class ControlQueues {
 public:
  using Handler = std::function<void(const gateway::Answer& answer)>;

  ControlQueues(boost::asio::io_context& io, Gateway& gateway);
  ~ControlQueues() { close(); }
  ControlQueues(const ControlQueues&) = delete;
  ControlQueues& operator=(const ControlQueues&) = delete;

  // Not after close(). The handler may be called at once: nothing is under way
  // then. It may destroy the request.
  std::unique_ptr<QueueRequest> call(const wire::control::QueueCall& request, Handler handler);

  // For its bridges. Not after close().
  Gateway& gateway() noexcept { return gateway_; }

  bool is_open() const noexcept { return service_ != nullptr; }
  // The gateway is about to end: requests under way must be gone.
  void close();

 private:
  Gateway& gateway_;
  gateway::Service* service_;
  const gateway::AccessRules& usual_;
  const std::string origin_;
  gateway::Front front_;
  const std::shared_ptr<gateway::Mailbag> mailbag_;
};

}  // namespace canopy::node
