#include "queue/move_tasks.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/uuid.hpp"
#include "queue/arn.hpp"
#include "queue/bytes.hpp"
#include "queue/keys.hpp"
#include "queue/message_record.hpp"
#include "queue/removal.hpp"

namespace canopy::queue {

namespace {

constexpr std::uint8_t move_tasks_version = 1;
constexpr std::size_t step_max = 100;  // messages of one command
constexpr std::size_t tasks_kept_max = 10;

// As AWS's, which people read: base64 of a JSON object.
struct TaskHandle {
  std::string task_id;  // a UUID
  std::string source_arn;
};

std::string encode_handle(const TaskHandle& handle) {
  return to_base64(boost::json::serialize(
      boost::json::object{{"taskId", handle.task_id}, {"sourceArn", handle.source_arn}}));
}

std::optional<TaskHandle> decode_handle(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) return std::nullopt;
  boost::system::error_code error;
  const auto value = boost::json::parse(*bytes, error);
  if (error || !value.is_object()) return std::nullopt;
  const auto member = [&value](const char* name) -> const boost::json::string* {
    const auto* found = value.get_object().if_contains(name);
    return found ? found->if_string() : nullptr;
  };
  const auto* task = member("taskId");
  const auto* source = member("sourceArn");
  if (task == nullptr || source == nullptr) return std::nullopt;
  return TaskHandle{{task->data(), task->size()}, {source->data(), source->size()}};
}

}  // namespace

std::string MoveTasks::encode(const Task& task) {
  ByteWriter out;
  out.u8(move_tasks_version);
  out.varint(task.number);
  out.text(task.status);
  out.text(task.destination_arn);
  out.zigzag(task.messages_per_second_max.value_or(0));
  out.varint(task.moved);
  out.varint(task.to_move);
  out.text(task.failure_reason);
  out.zigzag(task.started);
  return out.take();
}

MoveTasks::Task MoveTasks::decode(std::string_view bytes) {
  ByteReader in(bytes);
  Task task;
  const std::uint8_t written_by = in.u8();
  task.number = in.varint();
  task.status = in.text();
  task.destination_arn = in.text();
  if (const std::int64_t rate = in.zigzag(); rate != 0) task.messages_per_second_max = rate;
  task.moved = in.varint();
  task.to_move = in.varint();
  task.failure_reason = in.text();
  task.started = in.zigzag();
  if (written_by != move_tasks_version || !in.finished()) damaged("move task");
  return task;
}

std::optional<MoveTasks::Task> MoveTasks::find(QueueNumber queue, std::uint64_t number) const {
  const auto bytes = state_.tx.get(keys::of(keys::task, queue, number));
  return bytes ? std::optional(decode(*bytes)) : std::nullopt;
}

// Nobody can guess it, and it need not be kept.
std::string MoveTasks::id_of(QueueNumber queue, std::uint64_t task) const {
  const auto half = [&](std::uint8_t which) {
    ByteWriter out;
    out.u8(which);
    out.u64(queue);
    out.u64(task);
    return sip_hash(state_.service.key, out.view());
  };
  return Uuid::from_random_bits(half(0), half(1)).to_string();
}

std::string MoveTasks::handle_of(const Queue& queue, std::uint64_t task) const {
  return encode_handle({id_of(queue.number(), task), arn_of(queue.definition.name)});
}

std::optional<MoveTasks::Task> MoveTasks::find_by_id(QueueNumber queue,
                                                     const std::string& id) const {
  const std::string prefix = keys::of(keys::task, queue);
  const auto cursor = state_.reader.range(prefix, keys::after(prefix));
  for (; cursor->valid(); cursor->next()) {
    const std::uint64_t number = decode(cursor->value()).number;
    if (id_of(queue, number) == id) return find(queue, number);
  }
  queue::check(*cursor);
  return std::nullopt;
}

void MoveTasks::store(QueueNumber queue, const Task& task) {
  state_.tx.put(keys::of(keys::task, queue, task.number), encode(task));
}

// --- Requests. ---

boost::system::result<Queue*, Error> MoveTasks::open(const std::string& arn, const Caller& caller,
                                                     std::string_view parameter,
                                                     std::string_view action) {
  const auto name = parse_arn(arn);
  if (!name) {
    return invalid_parameter(
        fmt::format("You must use this format to specify the {}: "
                    "arn:<partition>:<service>:<region>:<account-id>:<resource-id>",
                    parameter));
  }
  auto queue = state_.open(*name, caller, action);
  if (!queue && queue.error().code == ErrorCode::queue_does_not_exist) {
    return Error{ErrorCode::resource_not_found,
                 fmt::format("The resource that you specified for the {} parameter doesn't exist.",
                             parameter)};
  }
  return queue;
}

bool MoveTasks::has_sources(const Queue& queue) const {
  const std::string prefix = keys::of_source_prefix(arn_of(queue.definition.name));
  const auto cursor = state_.reader.range(prefix, keys::after(prefix));
  queue::check(*cursor);
  return cursor->valid();
}

Prepared MoveTasks::prepare(StartMessageMoveTask action, const Caller& caller) {
  const auto opened = open(action.source_arn, caller, "SourceArn", "StartMessageMoveTask");
  if (!opened) return Outcome(opened.error());
  Queue& queue = **opened;
  const Limits& limits = state_.config.limits;
  if (action.messages_per_second_max &&
      (*action.messages_per_second_max < 1 ||
       *action.messages_per_second_max > limits.moves_per_second_max)) {
    return Outcome(invalid_parameter(
        fmt::format("Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must "
                    "enter a number that's between 1 and {}.",
                    limits.moves_per_second_max)));
  }
  if (!has_sources(queue)) {
    return Outcome(invalid_parameter("Source queue must be configured as a Dead Letter Queue."));
  }
  if (!action.destination_arn.empty()) {
    const auto target =
        open(action.destination_arn, caller, "DestinationArn", "StartMessageMoveTask");
    if (!target) return Outcome(target.error());
    if ((*target)->number() == queue.number()) {
      return Outcome(
          invalid_parameter("Source queue arn and destination queue arn cannot be the same."));
    }
    if ((*target)->fifo() != queue.fifo()) {
      return Outcome(invalid_parameter(
          "The source queue and destination queue must be of the same queue type."));
    }
  }
  return state_.command(command::StartTask{queue.number(), std::move(action.destination_arn),
                                           action.messages_per_second_max,
                                           queue.visible(state_.now)});
}

Outcome MoveTasks::apply(const Command& command, const command::StartTask& start) {
  const Queue* queue = state_.find(start.queue);
  if (queue == nullptr) return queue_does_not_exist();
  const std::string running_key = keys::of(keys::running_task, start.queue);
  if (state_.tx.get(running_key)) {
    return invalid_parameter(
        "There is already a task running. Only one active task is allowed for a source queue arn "
        "at a given time.");
  }
  Task task;
  task.number = ++state_.service.tasks;
  task.status = "RUNNING";
  task.destination_arn = start.destination_arn;
  task.messages_per_second_max = start.messages_per_second_max;
  task.to_move = start.to_move;
  task.started = command.time;
  store(start.queue, task);
  ByteWriter number;
  number.u64(task.number);
  state_.tx.put(running_key, number.take());
  running_[start.queue] = {task.number, command.time, false};
  return StartMessageMoveTaskResult{handle_of(*queue, task.number)};
}

Prepared MoveTasks::prepare(const CancelMessageMoveTask& action, const Caller& caller) {
  const auto handle = decode_handle(action.task_handle);
  if (!handle) {
    return Outcome(invalid_parameter("Value for parameter TaskHandle is invalid."));
  }
  const auto queue = open(handle->source_arn, caller, "SourceArn", "CancelMessageMoveTask");
  if (!queue) return Outcome(queue.error());
  const QueueNumber number = (*queue)->number();
  const auto task = find_by_id(number, handle->task_id);
  if (!task) return Outcome(Error{ErrorCode::resource_not_found, "Task does not exist."});
  if (task->status != "RUNNING") {
    return Outcome(Error{ErrorCode::unsupported_operation, "Only active tasks can be cancelled."});
  }
  return state_.command(command::EndTask{number, task->number, "CANCELLED", {}});
}

Outcome MoveTasks::apply(const Command&, const command::EndTask& end) {
  auto task = find(end.queue, end.task);
  if (!task) return Error{ErrorCode::resource_not_found, "Task does not exist."};
  if (task->status != "RUNNING") {
    return Error{ErrorCode::unsupported_operation, "Only active tasks can be cancelled."};
  }
  task->status = end.status;
  task->failure_reason = end.reason;
  store(end.queue, *task);
  state_.tx.erase(keys::of(keys::running_task, end.queue));
  running_.erase(end.queue);
  return CancelMessageMoveTaskResult{task->moved};
}

Outcome MoveTasks::answer(const ListMessageMoveTasks& action, const Caller& caller) {
  const auto queue = open(action.source_arn, caller, "SourceArn", "ListMessageMoveTasks");
  if (!queue) return queue.error();
  const std::uint32_t max = action.results_max.value_or(1);
  if (max < 1 || max > tasks_kept_max) {
    return invalid_parameter(fmt::format(
        "Value {} for parameter MaxResults is invalid. Reason: Must be between 1 and {}.", max,
        tasks_kept_max));
  }
  const std::string prefix = keys::of(keys::task, (*queue)->number());
  ListMessageMoveTasksResult result;
  const auto cursor = state_.reader.range(prefix, keys::after(prefix));
  for (; cursor->valid(); cursor->next()) {
    const Task task = decode(cursor->value());
    MessageMoveTask shown;
    shown.status = task.status;
    if (task.status == "RUNNING") shown.task_handle = handle_of(**queue, task.number);
    shown.source_arn = action.source_arn;
    shown.destination_arn = task.destination_arn;
    shown.messages_per_second_max = task.messages_per_second_max;
    shown.moved = task.moved;
    shown.to_move = task.to_move;
    shown.failure_reason = task.failure_reason;
    shown.started_ms = task.started;
    result.tasks.push_back(std::move(shown));
  }
  queue::check(*cursor);
  std::ranges::reverse(result.tasks);
  if (result.tasks.size() > max) result.tasks.resize(max);
  return result;
}

// --- Running. ---

void MoveTasks::start() {
  const std::string prefix = keys::of(keys::running_task);
  const auto cursor = state_.reader.range(prefix, keys::after(prefix));
  for (; cursor->valid(); cursor->next()) {
    running_[keys::last_number_of(cursor->key())] = {ByteReader(cursor->value()).u64(), 0, false};
  }
  queue::check(*cursor);
}

void MoveTasks::end(QueueNumber queue, Running& running, std::string status, std::string reason) {
  running.waits = true;
  state_.emit(command::EndTask{queue, running.number, std::move(status), std::move(reason)});
}

void MoveTasks::step(QueueNumber number, Running& running) {
  Queue* queue = state_.find(number);
  const auto task = queue ? find(number, running.number) : std::nullopt;
  if (!task) {
    // The queue was deleted, and its tasks with it.
    running.waits = true;
    return;
  }
  const std::uint64_t left = task->to_move - std::min(task->to_move, task->moved);
  const std::int64_t rate =
      task->messages_per_second_max.value_or(state_.config.limits.moves_per_second_usual);
  // Ten steps a second, as far as the rate is high enough for that.
  const std::size_t wanted =
      std::clamp<std::size_t>(static_cast<std::size_t>(rate / 10), 1, step_max);
  if (left == 0) return end(number, running, "COMPLETED", {});
  PickRules rules;
  rules.now = state_.now;
  rules.messages_max = std::min<std::uint64_t>(wanted, left);
  rules.retention = queue->settings.retention_ms;
  rules.for_move = true;
  std::uint64_t unused = 0;
  Pick pick = queue->fifo() ? queue->fifo_messages->pick(state_.reader, rules, unused)
                            : queue->standard_messages->pick(state_.reader, rules, unused);
  std::vector<PickedMessage> messages = std::exchange(pick.given, {});
  moving_.dispose(*queue, pick);
  if (messages.empty()) return end(number, running, "COMPLETED", {});

  std::vector<QueueName> targets;
  for (const PickedMessage& message : messages) {
    const auto record = decode_message(message.record);
    if (!record) damaged("message");
    const std::string& arn =
        task->destination_arn.empty() ? record->dead_letter_source : task->destination_arn;
    auto target = parse_arn(arn);
    if (!target || state_.catalogue.find(*target, state_.now) == nullptr) {
      put_back(state_, *queue, messages);
      return end(
          number, running, "FAILED",
          target ? "AWS.SimpleQueueService.NonExistentQueue" : "CouldNotDetermineMessageSource");
    }
    targets.push_back(std::move(*target));
  }
  running.waits = true;
  running.next_step = state_.now + static_cast<Millis>(messages.size()) * second_ms / rate;
  moving_.move(*queue, std::move(messages), std::move(targets), running.number);
}

void MoveTasks::tick() {
  for (auto& [queue, running] : running_) {
    if (!running.waits && running.next_step <= state_.now) step(queue, running);
  }
}

std::optional<Millis> MoveTasks::next_deadline() const {
  std::optional<Millis> first;
  for (const auto& [queue, running] : running_) {
    if (!running.waits) first = std::min(first.value_or(running.next_step), running.next_step);
  }
  return first;
}

void MoveTasks::moved(const command::MoveOut& out, std::uint64_t messages) {
  if (out.task == 0) return;
  if (auto task = find(out.queue, out.task)) {
    task->moved += messages;
    store(out.queue, *task);
  }
  const auto running = running_.find(out.queue);
  if (running != running_.end()) running->second.waits = false;
}

void MoveTasks::abandon(const command::MoveOut& out) {
  const auto running = out.task == 0 ? running_.end() : running_.find(out.queue);
  if (running != running_.end()) running->second.waits = false;
}

void MoveTasks::abandon(const command::EndTask& end) {
  const auto running = running_.find(end.queue);
  if (running != running_.end()) running->second.waits = false;
}

}  // namespace canopy::queue
