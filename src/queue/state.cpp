#include "queue/state.hpp"

#include <algorithm>

#include "queue/arn.hpp"
#include "queue/bytes.hpp"
#include "queue/keys.hpp"

namespace canopy::queue {

namespace {

// What an account's queues never let others do, whatever their policy says.
bool owner_only(std::string_view action) {
  constexpr std::string_view actions[] = {"AddPermission",
                                          "CancelMessageMoveTask",
                                          "CreateQueue",
                                          "DeleteQueue",
                                          "ListMessageMoveTasks",
                                          "ListQueueTags",
                                          "RemovePermission",
                                          "SetQueueAttributes",
                                          "StartMessageMoveTask",
                                          "TagQueue",
                                          "UntagQueue"};
  return std::ranges::find(actions, action) != std::end(actions);
}

}  // namespace

Error queue_does_not_exist() {
  return {ErrorCode::queue_does_not_exist, "The specified queue does not exist."};
}

Error invalid_parameter(std::string message) {
  return {ErrorCode::invalid_parameter_value, std::move(message)};
}

State::State(MachineConfig with, const store::Reader& from)
    : config(std::move(with)),
      reader(from),
      tx(from),
      catalogue(tx, from, config.limits),
      random(config.seed) {
  if (const auto bytes = read(reader, keys::of(keys::service))) {
    const auto decoded = decode_service_record(*bytes);
    if (!decoded) damaged("record of the queue service");
    service = *decoded;
  }
  now = service.time;
  for (const auto& last : service.last_commands) {
    if (last.origin == config.origin) last_sequence = last.sequence;
  }
}

boost::system::result<Queue*, Error> State::open(const QueueName& name, const Caller& caller,
                                                 std::string_view action) {
  Queue* queue = catalogue.find(name, now);
  if (queue == nullptr) return queue_does_not_exist();
  if (caller.account == queue->definition.name.account) return queue;
  const std::string arn = arn_of(queue->definition.name);
  const bool allowed = !owner_only(action) && queue->policy &&
                       queue->policy->allows({action, caller.account, caller.principal}, arn);
  if (allowed) return queue;
  return Error{ErrorCode::access_denied, "User: arn:aws:iam::" + caller.account +
                                             ":root is not authorized to perform: sqs:" +
                                             std::string(action) + " on resource: " + arn};
}

Command State::command(CommandBody body) const {
  Command command;
  command.time = now;
  command.origin = config.origin;
  command.body = std::move(body);
  return command;
}

void State::schedule(Queue& queue, Millis at) {
  Counters& counters = queue.counters;
  const auto key = [&queue](Millis time) {
    return keys::of(keys::housekeeping, static_cast<std::uint64_t>(time), queue.number());
  };
  if (counters.housekeeping != 0) tx.erase_unread(key(counters.housekeeping));
  counters.housekeeping = at;
  catalogue.touch(queue);
  if (at == 0) return;
  tx.put_unread(key(at), {});
  next_housekeeping = std::min(next_housekeeping, at);
}

Position State::safe_head(const Queue& queue) const {
  // Commands on the way are not older than the last applied one.
  return std::min(queue.head(), Position{0, service.time, 0});
}

void State::raise_head(Queue& queue, const Position& head) {
  if (head.lane == 0) queue.counters.head = std::max(queue.counters.head, head);
  catalogue.touch(queue);
}

}  // namespace canopy::queue
