#include "queue/removing.hpp"

#include <fmt/format.h>

#include "queue/batches.hpp"
#include "queue/removal.hpp"

namespace canopy::queue {

namespace {

Error handle_error(const std::string& handle, std::string_view reason) {
  return invalid_parameter(
      fmt::format("Value {} for parameter ReceiptHandle is invalid. Reason: {}", handle, reason));
}

Error handle_has_expired(const std::string& handle) {
  return handle_error(handle, "The receipt handle has expired.");
}

Error not_in_flight(const std::string& handle) {
  return handle_error(handle,
                      "Message does not exist or is not available for visibility timeout change.");
}

}  // namespace

boost::system::result<ReceiptHandle, Error> Removing::open(const Queue& queue,
                                                           const std::string& text) const {
  if (text.empty()) return missing_parameter("ReceiptHandle");
  const auto handle = open_handle(text, state_.service.key);
  if (handle && handle->queue == queue.number()) return *handle;
  return Error{ErrorCode::receipt_handle_is_invalid,
               fmt::format("The input receipt handle \"{}\" is not a valid receipt handle.", text)};
}

// --- Deleting. ---

boost::system::result<bool, Error> Removing::begin_removal(Queue& queue, const std::string& text,
                                                           command::Remove& remove) {
  const auto handle = open(queue, text);
  if (!handle) return handle.error();
  const HandleState known =
      queue.fifo()
          ? queue.fifo_messages->state_of(state_.reader, *handle, state_.now)
          : queue.standard_messages->state_of(state_.reader, *handle, state_.term, state_.now);
  switch (known) {
    case HandleState::gone: return false;
    // Done only when the command that does it is: an empty one behind it says so.
    case HandleState::leaving: return true;
    case HandleState::stale:
      if (queue.fifo()) return handle_has_expired(text);
      return false;
    case HandleState::expired:
      if (queue.fifo()) return handle_has_expired(text);
      break;
    case HandleState::current: break;
  }
  if (queue.fifo()) {
    remove.messages.push_back({handle->at, queue.fifo_messages->group_of(handle->at.sequence)});
    queue.fifo_messages->begin_removal(handle->at.sequence);
  } else {
    remove.messages.push_back({handle->at, {}});
    queue.standard_messages->begin_removal(handle->at);
  }
  return true;
}

Outcome Removing::outcome(Command& command) {
  if (!command.batch) return Done{};
  BatchResult result{std::move(command.settled), std::move(command.failed)};
  for (std::string& id : command.ids) result.successful.push_back(std::move(id));
  return result;
}

Prepared Removing::finish(Queue& queue, Command command, bool any) {
  if (!any) return outcome(command);
  if (queue.fifo()) {
    if (auto* remove = std::get_if<command::Remove>(&command.body)) {
      reserve_groups(queue, remove->messages);
    } else {
      reserve_groups(queue, std::get<command::SetVisibility>(command.body).messages);
    }
  }
  if (auto* remove = std::get_if<command::Remove>(&command.body)) {
    remove->head = state_.safe_head(queue);
  }
  return command;
}

Prepared Removing::prepare(DeleteMessage action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "DeleteMessage");
  if (!queue) return Outcome(queue.error());
  command::Remove remove{(*queue)->number(), {}, {}};
  const auto logged = begin_removal(**queue, action.receipt_handle, remove);
  if (!logged) return Outcome(logged.error());
  return finish(**queue, state_.command(std::move(remove)), *logged);
}

Prepared Removing::prepare(DeleteMessageBatch action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "DeleteMessage");
  if (!queue) return Outcome(queue.error());
  if (auto error = check_batch(action.entries, state_.config.limits)) {
    return Outcome(std::move(*error));
  }
  Command command = state_.command(command::Remove{(*queue)->number(), {}, {}});
  command.batch = true;
  auto& remove = std::get<command::Remove>(command.body);
  for (DeleteEntry& entry : action.entries) {
    const auto logged = begin_removal(**queue, entry.receipt_handle, remove);
    if (!logged) {
      command.failed.push_back({std::move(entry.id), logged.error()});
    } else {
      (*logged ? command.ids : command.settled).push_back(std::move(entry.id));
    }
  }
  const bool any = !command.ids.empty();
  return finish(**queue, std::move(command), any);
}

Outcome Removing::apply(Command& command, const command::Remove& remove) {
  Queue* queue = state_.find(remove.queue);
  if (queue == nullptr) return outcome(command);
  if (queue->fifo()) queue->fifo_messages->forget_expired(command.time);
  for (const command::MessagePlace& place : remove.messages) {
    remove_message(state_, *queue, place, command.time);
  }
  if (queue->fifo()) {
    release_groups(*queue, remove.messages, false);
    state_.stir(remove.queue);
  }
  state_.raise_head(*queue, remove.head);
  return outcome(command);
}

void Removing::abandon(const command::Remove& remove) {
  Queue* queue = state_.find(remove.queue);
  if (queue == nullptr) return;
  for (const command::MessagePlace& place : remove.messages) {
    abandon_removal(state_, *queue, place);
  }
  if (queue->fifo()) release_groups(*queue, remove.messages, true);
  state_.stir(remove.queue);
}

// --- Changing visibility. ---

Removing::Change Removing::begin_change(Queue& queue, const std::string& text,
                                        std::int64_t timeout_s) {
  const Range& range = state_.config.limits.visibility_timeout_s;
  if (!range.contains(timeout_s)) {
    return invalid_parameter(
        fmt::format("Value {} for parameter VisibilityTimeout is invalid. Reason: "
                    "VisibilityTimeout must be an integer between {} and {}.",
                    timeout_s, range.min, range.max));
  }
  const auto handle = open(queue, text);
  if (!handle) return handle.error();
  const std::optional<command::NewVisibility> nothing;
  const std::uint64_t sequence = handle->at.sequence;
  const HandleState state =
      queue.fifo()
          ? queue.fifo_messages->state_of(state_.reader, *handle, state_.now)
          : queue.standard_messages->state_of(state_.reader, *handle, state_.term, state_.now);
  if (state == HandleState::gone || state == HandleState::leaving) return not_in_flight(text);
  // Of a standard queue an older receive may still change it, as at AWS.
  const bool in_flight =
      state == HandleState::current || (state == HandleState::stale && !queue.fifo());
  if (!in_flight) {
    if (queue.fifo()) return not_in_flight(text);
    return nothing;
  }
  const Millis visible_at = state_.now + timeout_s * second_ms;
  const Millis received_at = queue.fifo() ? queue.fifo_messages->received_at(sequence)
                                          : queue.standard_messages->received_at(handle->at);
  if (visible_at - received_at > range.max * second_ms) {
    return invalid_parameter(
        fmt::format("Value {} for parameter VisibilityTimeout is invalid. Reason: Total "
                    "VisibilityTimeout for the message is beyond the limit [{} seconds].",
                    timeout_s, range.max));
  }
  if (queue.fifo()) {
    return command::NewVisibility{queue.fifo_messages->group_of(sequence), sequence,
                                  handle->receive, visible_at, false};
  }
  queue.standard_messages->set_visibility(handle->at, visible_at, state_.now);
  state_.stir(queue.number());
  return nothing;
}

// Of a batch: an entry may lack what a request has to have.
Removing::Change Removing::begin_change(Queue& queue, const VisibilityEntry& entry,
                                        std::size_t number) {
  if (entry.receipt_handle.empty()) return missing_parameter("ReceiptHandle");
  if (entry.visibility_timeout) {
    return begin_change(queue, entry.receipt_handle, *entry.visibility_timeout);
  }
  return missing_parameter(
      fmt::format("ChangeMessageVisibilityBatchRequestEntry.{}.VisibilityTimeout", number));
}

Prepared Removing::prepare(ChangeMessageVisibility action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "ChangeMessageVisibility");
  if (!queue) return Outcome(queue.error());
  auto change = begin_change(**queue, action.receipt_handle, action.visibility_timeout);
  if (!change) return Outcome(change.error());
  command::SetVisibility set{(*queue)->number(), {}};
  if (*change) set.messages.push_back(std::move(**change));
  return finish(**queue, state_.command(std::move(set)), change->has_value());
}

Prepared Removing::prepare(ChangeMessageVisibilityBatch action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "ChangeMessageVisibility");
  if (!queue) return Outcome(queue.error());
  if (auto error = check_batch(action.entries, state_.config.limits)) {
    return Outcome(std::move(*error));
  }
  Command command = state_.command(command::SetVisibility{(*queue)->number(), {}});
  command.batch = true;
  auto& messages = std::get<command::SetVisibility>(command.body).messages;
  for (std::size_t i = 0; i < action.entries.size(); ++i) {
    VisibilityEntry& entry = action.entries[i];
    auto change = begin_change(**queue, entry, i + 1);
    if (!change) {
      command.failed.push_back({std::move(entry.id), change.error()});
    } else if (!*change) {
      command.settled.push_back(std::move(entry.id));
    } else {
      command.ids.push_back(std::move(entry.id));
      messages.push_back(std::move(**change));
    }
  }
  const bool any = !messages.empty();
  return finish(**queue, std::move(command), any);
}

Outcome Removing::apply(Command& command, const command::SetVisibility& change) {
  Queue* queue = state_.find(change.queue);
  if (queue == nullptr) return outcome(command);
  queue->fifo_messages->forget_expired(command.time);
  for (const command::NewVisibility& message : change.messages) {
    queue->fifo_messages->set_visibility(state_.tx, message, command.time);
  }
  release_groups(*queue, change.messages, false);
  state_.stir(change.queue);
  return outcome(command);
}

void Removing::abandon(const command::SetVisibility& change) {
  Queue* queue = state_.find(change.queue);
  if (queue == nullptr) return;
  release_groups(*queue, change.messages, true);
  state_.stir(change.queue);
}

}  // namespace canopy::queue
