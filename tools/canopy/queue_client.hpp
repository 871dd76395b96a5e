// Actions of the daemon's queues, in AWS JSON, over its control socket. One
// thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>

#include "canopy/commands.hpp"

namespace canopy::tools {

struct QueueReply {
  std::string json;                // the action's answer
  std::optional<Failure> failure;  // in its place

  // Throws the failure.
  boost::json::object object() const;
};

class QueueClient {
 public:
  // `queue`: as the user called it; may be empty. The command must outlive it.
  QueueClient(Context& context, const QueueCommand& command, std::string queue);

  Context& context() noexcept { return context_; }
  const std::string& queue() const noexcept { return queue_; }
  // The same for another queue.
  QueueClient of(std::string queue) const { return {context_, command_, std::move(queue)}; }

  // Parameters with the queue's URL among them.
  boost::json::object parameters() const;

  // Starts an action; `done` comes from the context's client's run(), and need not
  // find this object any more. Throws Failure for what is too large.
  void start(std::string_view action, std::string json, std::function<void(QueueReply)> done);
  void start(std::string_view action, const boost::json::object& parameters,
             std::function<void(QueueReply)> done);

  // Waits for the answer: --timeout, and `wait` on top of it. Throws Failure.
  boost::json::object ask(std::string_view action, const boost::json::object& parameters,
                          Duration wait = {});
  QueueReply ask(std::string_view action, std::string json, Duration wait = {});

 private:
  Context& context_;
  const QueueCommand& command_;
  std::string queue_;
};

// The last step of a queue's URL.
std::string name_of(std::string_view queue);

// HOST:PORT of a queue's URL; empty if it names none.
std::string_view host_of(std::string_view queue);
// A URL's path alone says which queue is meant, one of the daemon's in any case: says so if the
// host is not where the daemon's gateway listens, as one of its queues' URLs tells.
void tell_of_another_host(std::string_view queue, std::string_view own_url);

// A member that is text; empty if it is not there.
std::string text_of(const boost::json::object& object, std::string_view member);

}  // namespace canopy::tools
