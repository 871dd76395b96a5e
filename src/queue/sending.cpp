#include "queue/sending.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "queue/answers.hpp"
#include "queue/batches.hpp"
#include "queue/deduplication.hpp"
#include "queue/keys.hpp"
#include "queue/message_checks.hpp"
#include "queue/message_record.hpp"

namespace canopy::queue {

namespace {

std::string sha256_hex(std::string_view bytes) {
  std::array<char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  const bool done =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr) == 1;
  CANOPY_ASSERT(done);
  return to_hex({digest.data(), size});
}

Error not_for_this_kind(std::string_view parameter, std::string_view value) {
  return invalid_parameter(fmt::format(
      "Value {} for parameter {} is invalid. Reason: The request include parameter that is not "
      "valid for this queue type.",
      value, parameter));
}

Error too_long(std::string_view what_is_wrong, std::size_t bytes_max) {
  return invalid_parameter(
      fmt::format("One or more parameters {}. Reason: Message must be shorter than {} bytes.",
                  what_is_wrong, bytes_max));
}

}  // namespace

std::optional<Error> Sending::check_fifo(const Queue& queue, const SendEntry& entry) const {
  if (!entry.group_id) return missing_parameter("MessageGroupId");
  if (!entry.deduplication_id && !queue.settings.content_based_deduplication) {
    return invalid_parameter(
        "The queue should either have ContentBasedDeduplication enabled or "
        "MessageDeduplicationId provided explicitly");
  }
  if (entry.delay_seconds.value_or(0) != 0) {
    return not_for_this_kind("DelaySeconds", std::to_string(*entry.delay_seconds));
  }
  return std::nullopt;
}

std::optional<Error> Sending::check(const Queue& queue, const SendEntry& entry) const {
  const Limits& limits = state_.config.limits;
  if (auto error = check_body(entry.body.view())) return error;
  if (auto error = check_message_attributes(entry.attributes, limits)) return error;
  if (size_of(entry) > queue.settings.message_bytes_max) {
    return too_long("are invalid", queue.settings.message_bytes_max);
  }
  if (entry.delay_seconds && !limits.delay_s.contains(*entry.delay_seconds)) {
    return invalid_parameter(
        fmt::format("Value {} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be "
                    ">= {} and <= {}.",
                    *entry.delay_seconds, limits.delay_s.min, limits.delay_s.max));
  }
  if (entry.group_id) {
    if (auto error = check_message_token("MessageGroupId", *entry.group_id, limits)) return error;
  }
  if (entry.deduplication_id) {
    if (!queue.fifo()) return not_for_this_kind("MessageDeduplicationId", *entry.deduplication_id);
    if (auto error =
            check_message_token("MessageDeduplicationId", *entry.deduplication_id, limits)) {
      return error;
    }
  }
  return queue.fifo() ? check_fifo(queue, entry) : std::nullopt;
}

// Of a batch, for which AWS has other words for what is missing or too long.
std::optional<Error> Sending::check_entry(const Queue& queue, const SendEntry& entry,
                                          std::size_t number) const {
  if (entry.body.view().empty()) {
    return missing_parameter(fmt::format("SendMessageBatchRequestEntry.{}.MessageBody", number));
  }
  if (size_of(entry) > queue.settings.message_bytes_max) {
    return too_long("cannot be validated", queue.settings.message_bytes_max);
  }
  auto error = check(queue, entry);
  if (error && error->code == ErrorCode::missing_parameter) {
    error->code = ErrorCode::invalid_parameter_value;
  }
  return error;
}

void Sending::add(const Queue& queue, SendEntry entry, const Caller& caller, Command& command) {
  Sent& sent = command.sent.emplace_back();
  std::get<command::Send>(command.body)
      .messages.push_back(make(queue, std::move(entry), caller, command.time, &sent));
}

void Sending::describe(const SendEntry& entry, const MessageRecord& record, Sent& sent) {
  sent.id = entry.id;
  sent.message_id = record.id.to_string();
  sent.body_md5 = to_hex(bytes_of(record.body_md5));
  if (!entry.attributes.empty()) {
    sent.attributes_md5 = to_hex(bytes_of(state_.md5.of(entry.attributes)));
  }
  if (entry.trace_header) {
    const MessageAttributes system{{"AWSTraceHeader", {"String", false, *entry.trace_header}}};
    sent.system_attributes_md5 = to_hex(bytes_of(state_.md5.of(system)));
  }
}

command::NewMessage Sending::make(const Queue& queue, SendEntry entry, const Caller& caller,
                                  Millis time, Sent* sent) {
  MessageRecord record;
  record.id = Uuid::from_random_bits(state_.random.next(), state_.random.next());
  record.body_md5 = state_.md5.of(entry.body.view());
  record.sent = time;
  record.sender = caller.principal;
  // A message of a FIFO queue has no delay of its own, not even that of nothing.
  record.delay = entry.delay_seconds && !queue.fifo() ? *entry.delay_seconds * second_ms
                                                      : queue.settings.delay_ms;
  if (sent != nullptr) describe(entry, record, *sent);

  command::NewMessage message;
  message.id = record.id;
  message.due = time + record.delay;
  if (queue.fifo()) {
    if (!entry.deduplication_id) entry.deduplication_id = sha256_hex(entry.body.view());
    message.group = *entry.group_id;
    message.deduplication = *entry.deduplication_id;
    const bool scope_is_new = time < queue.settings.scope_from;
    const bool by_group = queue.settings.deduplicate_by_group != scope_is_new;
    // A group cannot hold a line feed, so that pairs are told apart.
    if (by_group) message.deduplication += '\n' + message.group;
  } else if (entry.group_id) {
    message.lane = lane_of(*entry.group_id);
  }
  record.group_id = std::move(entry.group_id);
  record.deduplication_id = std::move(entry.deduplication_id);
  record.trace_header = std::move(entry.trace_header ? entry.trace_header : entry.trace_of_request);
  record.attributes = std::move(entry.attributes);
  record.body = std::move(entry.body);
  message.record = encode(record);
  return message;
}

Prepared Sending::prepare(SendMessage action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "SendMessage");
  if (!queue) return Outcome(queue.error());
  if (auto error = check(**queue, action.entry)) return Outcome(std::move(*error));
  Command command = state_.command(command::Send{(*queue)->number(), {}});
  add(**queue, std::move(action.entry), caller, command);
  return command;
}

Prepared Sending::prepare(SendMessageBatch action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "SendMessage");
  if (!queue) return Outcome(queue.error());
  if (auto error = check_batch(action.entries, state_.config.limits)) {
    return Outcome(std::move(*error));
  }
  std::size_t bytes = 0;
  for (const SendEntry& entry : action.entries) bytes += size_of(entry);
  if (bytes > state_.config.limits.batch_bytes_max) {
    return Outcome(
        Error{ErrorCode::batch_request_too_long,
              fmt::format("Batch requests cannot be longer than {} bytes. You have sent {} bytes.",
                          state_.config.limits.batch_bytes_max, bytes)});
  }
  Command command = state_.command(command::Send{(*queue)->number(), {}});
  command.batch = true;
  for (std::size_t i = 0; i < action.entries.size(); ++i) {
    SendEntry& entry = action.entries[i];
    if (auto error = check_entry(**queue, entry, i + 1)) {
      // The order of a FIFO queue has no gaps.
      if ((*queue)->fifo()) return Outcome(std::move(*error));
      command.failed.push_back({std::move(entry.id), std::move(*error)});
    } else {
      add(**queue, std::move(entry), caller, command);
    }
  }
  if (!command.sent.empty()) return command;
  return Outcome(SendMessageBatchResult{{}, std::move(command.failed)});
}

std::uint64_t Sending::put(Queue& queue, const command::NewMessage& message, Millis time) {
  Counters& counters = queue.counters;
  const std::uint64_t sequence = counters.next_sequence++;
  ++counters.messages;
  if (message.due > time) {
    counters.delayed_until = std::max(counters.delayed_until, message.due);
    queue.delayed.add(message.due, time);
  }
  if (queue.fifo()) {
    queue.fifo_messages->add(state_.tx, sequence, message);
  } else {
    const Position at{message.lane, message.due, sequence};
    state_.tx.put_unread(keys::of(keys::message, queue.number(), at),
                         std::string(message.record.view()));
    counters.grouped |= message.lane != 0;
    queue.standard_messages->added(at, message.record);
  }
  if (counters.housekeeping == 0) {
    const Millis oldest = queue.settings.retention_ms;
    const Millis ids = state_.config.limits.deduplication_ms * 2;
    state_.schedule(queue, time + (queue.fifo() ? std::min(oldest, ids) : oldest));
  }
  state_.catalogue.touch(queue);
  state_.stir(queue.number());
  return sequence;
}

void Sending::accept(Queue& queue, const command::NewMessage& message, Millis time, Sent* sent) {
  if (!queue.fifo()) {
    put(queue, message, time);
    return;
  }
  const Deduplication ids(queue.number(), state_.config.limits.deduplication_ms);
  auto original = ids.find(state_.tx, message.deduplication, time);
  if (!original) {
    original = Original{message.id, put(queue, message, time)};
    ids.remember(state_.tx, message.deduplication, *original, time);
    queue.counters.deduplicated_at = time;
  }
  if (sent == nullptr) return;
  sent->message_id = original->id.to_string();
  sent->sequence_number = sequence_number(original->sequence);
}

Outcome Sending::apply(Command& command, command::Send& send) {
  Queue* queue = state_.find(send.queue);
  if (queue == nullptr) return queue_does_not_exist();
  const bool answers = command.sent.size() == send.messages.size();
  for (std::size_t i = 0; i < send.messages.size(); ++i) {
    accept(*queue, send.messages[i], command.time, answers ? &command.sent[i] : nullptr);
  }
  if (!answers) return Done{};
  if (!command.batch) return std::move(command.sent.front());
  return SendMessageBatchResult{std::move(command.sent), std::move(command.failed)};
}

}  // namespace canopy::queue
