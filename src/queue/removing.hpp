// What is done with receipt handles: DeleteMessage and ChangeMessageVisibility,
// alone and in batches.
#pragma once

#include <boost/system/result.hpp>

#include "queue/state.hpp"

namespace canopy::queue {

class Removing {
 public:
  explicit Removing(State& state) : state_(state) {}

  Prepared prepare(DeleteMessage action, const Caller& caller);
  Prepared prepare(DeleteMessageBatch action, const Caller& caller);
  Prepared prepare(ChangeMessageVisibility action, const Caller& caller);
  Prepared prepare(ChangeMessageVisibilityBatch action, const Caller& caller);

  Outcome apply(Command& command, const command::Remove& remove);
  Outcome apply(Command& command, const command::SetVisibility& change);
  void abandon(const command::Remove& remove);
  void abandon(const command::SetVisibility& change);

 private:
  boost::system::result<ReceiptHandle, Error> open(const Queue& queue,
                                                   const std::string& text) const;
  // Whether the log has to know before it is answered; then the command has it.
  boost::system::result<bool, Error> begin_removal(Queue& queue, const std::string& handle,
                                                   command::Remove& remove);
  // An error; or what to do, nothing if it is done already.
  using Change = boost::system::result<std::optional<command::NewVisibility>, Error>;
  Change begin_change(Queue& queue, const std::string& handle, std::int64_t timeout_s);
  Change begin_change(Queue& queue, const VisibilityEntry& entry, std::size_t number);
  Prepared finish(Queue& queue, Command command, bool any);
  static Outcome outcome(Command& command);

  State& state_;
};

}  // namespace canopy::queue
