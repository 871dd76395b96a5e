#include "queue/receiving.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "queue/answers.hpp"
#include "queue/bytes.hpp"
#include "queue/keys.hpp"
#include "queue/message_checks.hpp"
#include "queue/removal.hpp"

namespace canopy::queue {

namespace {

// How long a receive waits for its dead letters to arrive, or for another receive with its
// attempt id, at most.
constexpr Millis moves_wait_max = second_ms;
// A queue whose next message cannot be told is looked at again after this.
constexpr Millis look_again = 50;
// FIFO: receives of different terms have different numbers.
constexpr unsigned receive_bits = 40;

bool is_repeated(const Queue& queue, const ReceiveMessage& action) {
  return queue.fifo() && action.attempt_id &&
         queue.fifo_messages->is_attempting(*action.attempt_id);
}

Error out_of_range(const char* parameter, std::int64_t value, const std::string& reason) {
  return invalid_parameter(
      fmt::format("Value {} for parameter {} is invalid. Reason: {}", value, parameter, reason));
}

}  // namespace

std::optional<Error> Receiving::check(const ReceiveMessage& action) const {
  const Limits& limits = state_.config.limits;
  const std::int64_t max = action.messages_max.value_or(1);
  if (max < 1 || max > limits.batch_entries_max) {
    return out_of_range(
        "MaxNumberOfMessages", max,
        fmt::format("Must be between 1 and {}, if provided.", limits.batch_entries_max));
  }
  if (action.wait_time_seconds && !limits.wait_s.contains(*action.wait_time_seconds)) {
    return out_of_range("WaitTimeSeconds", *action.wait_time_seconds,
                        fmt::format("Must be >= 0 and <= {}, if provided.", limits.wait_s.max));
  }
  const auto& visibility = action.visibility_timeout;
  if (visibility && !limits.visibility_timeout_s.contains(*visibility)) {
    return out_of_range(
        "VisibilityTimeout", *visibility,
        fmt::format("Must be >= 0 and <= {}, if provided.", limits.visibility_timeout_s.max));
  }
  if (action.attempt_id) {
    return check_message_token("ReceiveRequestAttemptId", *action.attempt_id, limits);
  }
  return std::nullopt;
}

PickRules Receiving::rules_of(Queue& queue, const ReceiveMessage& action) {
  PickRules rules;
  rules.now = state_.now;
  rules.visible_at =
      state_.now + (action.visibility_timeout ? *action.visibility_timeout * second_ms
                                              : queue.settings.visibility_ms);
  rules.messages_max = static_cast<std::size_t>(action.messages_max.value_or(1));
  if (moving_.has_target(queue)) rules.receives_max = queue.settings.redrive->receives_max;
  rules.retention = queue.settings.retention_ms;
  return rules;
}

Message Receiving::answer(const Queue& queue, const PickedMessage& picked, std::uint64_t term,
                          const ReceiveMessage& action) {
  const ReceiptHandle handle{queue.number(), 0, picked.at, term, picked.receive};
  return answer_of(picked, queue.fifo(), action.system_attribute_names,
                   action.message_attribute_names,
                   seal(handle, state_.service.key_id, state_.service.key), state_.md5);
}

Receiving::Taken Receiving::take(Queue& queue, const ReceiveMessage& action) {
  const PickRules rules = rules_of(queue, action);
  return queue.fifo() ? take_fifo(queue, action, rules) : take_standard(queue, action, rules);
}

Receiving::Taken Receiving::take_standard(Queue& queue, const ReceiveMessage& action,
                                          const PickRules& rules) {
  Pick pick = queue.standard_messages->pick(state_.reader, rules, state_.receives);
  const bool over_limit = pick.over_limit && pick.given.empty();
  ReceiveMessageResult result;
  result.messages.reserve(pick.given.size());
  for (const PickedMessage& picked : pick.given) {
    queue.delayed.remove(picked.at.time);
    result.messages.push_back(answer(queue, picked, state_.term, action));
  }
  moving_.dispose(queue, pick);
  if (over_limit) {
    return Error{ErrorCode::over_limit,
                 "Too many messages in flight: delete some before you receive more."};
  }
  if (result.messages.empty()) return std::monostate();
  return result;
}

Receiving::Taken Receiving::take_fifo(Queue& queue, const ReceiveMessage& action,
                                      const PickRules& rules) {
  if (is_repeated(queue, action)) return std::monostate();
  if (auto again = repeat(queue, action)) return std::move(*again);
  std::uint64_t number = state_.term << receive_bits | state_.receives;
  Pick pick = queue.fifo_messages->pick(state_.reader, rules, number);
  state_.receives = number & ((std::uint64_t{1} << receive_bits) - 1);
  moving_.dispose(queue, pick);
  if (pick.given.empty()) return std::monostate();
  Command command = state_.command(command::Receive{queue.number(),
                                                    rules.visible_at,
                                                    state_.safe_head(queue),
                                                    {},
                                                    action.attempt_id.value_or("")});
  auto& messages = std::get<command::Receive>(command.body).messages;
  for (PickedMessage& picked : pick.given) {
    command.received.push_back(answer(queue, picked, state_.term, action));
    messages.push_back({std::move(picked.group), picked.at.sequence, picked.receive, picked.count,
                        picked.first_received});
  }
  reserve_groups(queue, messages);
  if (action.attempt_id) queue.fifo_messages->begin_attempt(*action.attempt_id);
  return command;
}

// A retry of a receive whose answer got lost gives the same messages.
std::optional<ReceiveMessageResult> Receiving::repeat(Queue& queue, const ReceiveMessage& action) {
  if (!action.attempt_id) return std::nullopt;
  const Millis oldest = state_.now - state_.config.limits.attempt_ms;
  const auto received =
      queue.fifo_messages->attempt(state_.reader, *action.attempt_id, oldest, state_.now);
  if (received.empty()) return std::nullopt;
  ReceiveMessageResult result;
  for (const PickedMessage& picked : received)
    result.messages.push_back(answer(queue, picked, picked.receive >> receive_bits, action));
  return result;
}

// --- Requests. ---

Prepared Receiving::prepare(ReceiveMessage action, const Caller& caller, Token token) {
  const auto queue = state_.open(action.queue, caller, "ReceiveMessage");
  if (!queue) return Outcome(queue.error());
  if (auto error = check(action)) return Outcome(std::move(*error));
  // Before the term has begun there is nothing to make handles with.
  if (state_.term == 0) return wait(**queue, std::move(action), token);
  Taken taken = take(**queue, action);
  if (auto* result = std::get_if<ReceiveMessageResult>(&taken)) return Outcome(std::move(*result));
  if (auto* command = std::get_if<Command>(&taken)) return std::move(*command);
  if (auto* error = std::get_if<Error>(&taken)) return Outcome(std::move(*error));
  return wait(**queue, std::move(action), token);
}

Prepared Receiving::wait(Queue& queue, ReceiveMessage action, Token token) {
  Waiter waiter{token, queue.number(), state_.now, 0, {}};
  waiter.ends +=
      action.wait_time_seconds ? *action.wait_time_seconds * second_ms : queue.settings.wait_ms;
  if (queue.moving > 0 || state_.term == 0 || is_repeated(queue, action))
    waiter.moves_wait = state_.now + moves_wait_max;
  if (waiter.ends <= state_.now && waiter.moves_wait == 0) return Outcome(ReceiveMessageResult{});
  if (state_.waiters.size() >= state_.config.limits.waiters_max) {
    ++waiters_refused_;
    return Outcome(ReceiveMessageResult{});
  }
  if (waiter.ends <= state_.now) waiter.ends = waiter.moves_wait;
  waiter.action = std::move(action);
  state_.waiters.add(std::move(waiter));
  state_.stir(queue.number());
  return Waiting{};
}

void Receiving::wake_all() {
  for (const QueueNumber number : state_.waiters.queues()) state_.stir(number);
}

// Whether the first waiter of the queue got its answer, so that the next has its turn.
bool Receiving::serve_first(Queue* queue, Waiters::Order order, Host& host) {
  const Waiter& waiter = state_.waiters.at(order);
  const Token token = waiter.token;
  if (queue == nullptr) {
    state_.waiters.take(order);
    host.answer(token, queue_does_not_exist());
    return true;
  }
  if (!host.present(token)) return state_.waiters.take(order).has_value();
  Taken taken = take(*queue, waiter.action);
  if (auto* result = std::get_if<ReceiveMessageResult>(&taken)) {
    state_.waiters.take(order);
    host.answer(token, std::move(*result));
    return true;
  }
  if (auto* command = std::get_if<Command>(&taken)) {
    state_.waiters.take(order);
    for (Command& own : std::exchange(state_.own, {})) host.submit(state_.hand_out(std::move(own)));
    host.submit(state_.hand_out(std::move(*command)), token);
    return true;
  }
  // It waited for nothing but its dead letters, and they have arrived.
  const bool only_moves = waiter.moves_wait != 0 && waiter.ends == waiter.moves_wait;
  if (!only_moves || queue->moving > 0 || is_repeated(*queue, waiter.action)) return false;
  state_.waiters.take(order);
  host.answer(token, ReceiveMessageResult{});
  return true;
}

void Receiving::serve_queue(QueueNumber number, Host& host) {
  Queue* queue = state_.find(number);
  if (queue != nullptr && state_.term == 0) return;
  while (const auto order = state_.waiters.first(number)) {
    if (!serve_first(queue, *order, host)) break;
  }
  if (queue == nullptr || !state_.waiters.any(number)) return;
  auto next = queue->next_available(state_.now);
  if (next && *next <= state_.now) next = state_.now + look_again;
  state_.waiters.set_timer(number, next);
}

void Receiving::serve(Host& host) {
  while (const auto number = state_.waiters.take_timer(state_.now)) state_.stir(*number);
  for (const QueueNumber number : std::exchange(state_.stirred, {})) serve_queue(number, host);
  for (const Waiters::Order order : state_.waiters.ended(state_.now)) {
    const auto waiter = state_.waiters.take(order);
    host.answer(waiter->token, ReceiveMessageResult{});
  }
}

Outcome Receiving::peek(const PeekMessage& action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "ReceiveMessage");
  if (!queue) return queue.error();
  const Limits& limits = state_.config.limits;
  const std::int64_t max = action.messages_max.value_or(1);
  if (max < 1 || max > limits.peek_max) {
    return out_of_range("MaxNumberOfMessages", max,
                        fmt::format("Must be between 1 and {}, if provided.", limits.peek_max));
  }
  const PeekRules rules{state_.now,
                        static_cast<std::size_t>(max),
                        limits.peek_bytes_max,
                        limits.peek_steps_max,
                        action.show_invisible,
                        action.show_delayed};
  const auto seen = (*queue)->fifo() ? (*queue)->fifo_messages->peek(state_.reader, rules)
                                     : (*queue)->standard_messages->peek(state_.reader, rules);
  ReceiveMessageResult result;
  for (const PickedMessage& message : seen) {
    Message shown = answer_of(message, (*queue)->fifo(), {"All"}, {"All"}, {}, state_.md5);
    const auto say = [&shown](const char* name, bool value) {
      shown.attributes.emplace(name, value ? "true" : "false");
    };
    if (action.show_invisible) say("IsVisible", !message.in_flight);
    if (action.show_delayed) say("IsDelayed", message.delayed);
    result.messages.push_back(std::move(shown));
  }
  return result;
}

void Receiving::give_back(const QueueName& name, const std::vector<std::string>& handles) {
  Queue* queue = state_.catalogue.find(name, state_.now);
  if (queue == nullptr) return;
  command::SetVisibility undo{queue->number(), {}};
  for (const std::string& text : handles) {
    const auto handle = open_handle(text, state_.service.key);
    if (!handle || handle->queue != queue->number()) continue;
    if (queue->fifo()) {
      const auto known = queue->fifo_messages->state_of(state_.reader, *handle, state_.now);
      if (known != HandleState::current) continue;
      undo.messages.push_back({queue->fifo_messages->group_of(handle->at.sequence),
                               handle->at.sequence, handle->receive, state_.now, true});
    } else if (queue->standard_messages->state_of(state_.reader, *handle, state_.term,
                                                  state_.now) == HandleState::current) {
      queue->standard_messages->undo(handle->at, state_.now);
    }
  }
  if (!undo.messages.empty()) {
    reserve_groups(*queue, undo.messages);
    state_.emit(std::move(undo));
  }
  state_.stir(queue->number());
}

// --- Commands. ---

Outcome Receiving::apply(Command& command, command::Receive& receive) {
  Queue* queue = state_.find(receive.queue);
  if (queue == nullptr) return queue_does_not_exist();
  queue->fifo_messages->forget_expired(command.time);
  ReceiveMessageResult result;
  const bool answers = command.received.size() == receive.messages.size();
  for (std::size_t i = 0; i < receive.messages.size(); ++i) {
    const bool given =
        queue->fifo_messages->receive(state_.tx, receive, i, command.time, queue->counters);
    if (given && answers) result.messages.push_back(std::move(command.received[i]));
  }
  queue->fifo_messages->end_attempt(receive.attempt);
  release_groups(*queue, receive.messages, false);
  state_.raise_head(*queue, receive.head);
  state_.stir(receive.queue);
  return result;
}

void Receiving::abandon(const Command&, const command::Receive& receive) {
  Queue* queue = state_.find(receive.queue);
  if (queue == nullptr) return;
  queue->fifo_messages->end_attempt(receive.attempt);
  release_groups(*queue, receive.messages, true);
  state_.stir(receive.queue);
}

void Receiving::apply(const command::NoteReceives& notes) {
  Queue* queue = state_.find(notes.queue);
  if (queue == nullptr) return;
  for (const command::ReceiveNote& note : notes.notes) {
    if (note.at.sequence < queue->counters.purged_before) continue;
    ByteWriter out;
    out.varint(note.count);
    out.zigzag(note.first_received);
    state_.tx.put_unread(keys::of(keys::receive, notes.queue, note.at), out.take());
    queue->counters.noted = true;
    queue->standard_messages->noted();
  }
  state_.catalogue.touch(*queue);
}

void Receiving::apply(const Command& command, const command::PlaceGroup& place) {
  Queue* queue = state_.find(place.queue);
  if (queue == nullptr) return;
  queue->fifo_messages->forget_expired(command.time);
  queue->fifo_messages->place(state_.tx, place.group, place.available);
  queue->fifo_messages->release(place.group, false);
  state_.stir(place.queue);
}

void Receiving::abandon(const command::PlaceGroup& place) {
  Queue* queue = state_.find(place.queue);
  if (queue == nullptr) return;
  queue->fifo_messages->release(place.group, true);
  state_.stir(place.queue);
}

}  // namespace canopy::queue
