// queue receive, peek and delete.
#include <algorithm>
#include <chrono>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "canopy/output.hpp"
#include "canopy/queue_commands.hpp"

namespace canopy::tools {

namespace json = boost::json;
using std::chrono::steady_clock;

namespace {

// Of one request, by AWS's rules.
constexpr std::uint64_t batch_max = 10;
constexpr std::chrono::seconds wait_max{20};

json::array messages_of(const json::object& answer) {
  const json::value* messages = answer.if_contains("Messages");
  return messages ? messages->as_array() : json::array();
}

json::object attribute_values(const json::object& message) {
  json::object values;
  const json::value* attributes = message.if_contains("MessageAttributes");
  if (!attributes) return values;
  for (const auto& attribute : attributes->as_object()) {
    const json::object& given = attribute.value().as_object();
    json::object value;
    value["type"] = text_of(given, "DataType");
    if (given.contains("BinaryValue"))
      value["value_base64"] = text_of(given, "BinaryValue");
    else
      value["value"] = text_of(given, "StringValue");
    values[attribute.key()] = std::move(value);
  }
  return values;
}

void print_as_json(const json::object& message) {
  json::object object;
  object["id"] = text_of(message, "MessageId");
  object["body"] = text_of(message, "Body");
  if (message.contains("ReceiptHandle"))
    object["receipt_handle"] = text_of(message, "ReceiptHandle");
  const json::value* attributes = message.if_contains("Attributes");
  object["attributes"] = attributes ? *attributes : json::value(json::object());
  object["message_attributes"] = attribute_values(message);
  print_json(object);
}

void print_message(const Context& context, const json::object& message, bool with_handle) {
  if (context.json) return print_as_json(message);
  print_line(escaped(text_of(message, "Body")));
  if (with_handle) print_line("  receipt handle " + text_of(message, "ReceiptHandle"));
}

int tell_if_none(QueueClient& queues, std::uint64_t count) {
  if (count == 0 && !queues.context().json)
    complain(fmt::format("no message in {}", name_of(queues.queue())));
  return 0;
}

class Receiving {
 public:
  Receiving(QueueClient& queues, const QueueReceive& command)
      : queues_(queues),
        command_(command),
        until_(steady_clock::now() + std::chrono::seconds(command.wait_seconds)) {}

  int run() {
    while (received_ < command_.messages_max) {
      const std::chrono::seconds wait = next_wait();
      const json::array messages = receive(wait);
      for (const json::value& message : messages)
        print_message(queues_.context(), message.as_object(), !command_.remove);
      if (command_.remove && !messages.empty()) remove(messages);
      received_ += messages.size();
      if (messages.empty() && steady_clock::now() >= until_) break;
    }
    return tell_if_none(queues_, received_);
  }

 private:
  // Rounded up, so that the last wait is not one of no time.
  std::chrono::seconds next_wait() const {
    const auto left = std::chrono::ceil<std::chrono::seconds>(until_ - steady_clock::now());
    return std::clamp(left, std::chrono::seconds(0), wait_max);
  }

  json::array receive(std::chrono::seconds wait) {
    json::object parameters = queues_.parameters();
    parameters["MaxNumberOfMessages"] = std::min(command_.messages_max - received_, batch_max);
    parameters["WaitTimeSeconds"] = wait.count();
    if (command_.visibility_seconds) parameters["VisibilityTimeout"] = *command_.visibility_seconds;
    parameters["AttributeNames"] = json::array{"All"};
    parameters["MessageAttributeNames"] = json::array{"All"};
    return messages_of(queues_.ask("ReceiveMessage", parameters, wait));
  }

  void remove(const json::array& messages) {
    json::array entries;
    for (const json::value& message : messages) {
      json::object entry;
      entry["Id"] = std::to_string(entries.size());
      entry["ReceiptHandle"] = text_of(message.as_object(), "ReceiptHandle");
      entries.push_back(std::move(entry));
    }
    json::object parameters = queues_.parameters();
    parameters["Entries"] = std::move(entries);
    const json::object answer = queues_.ask("DeleteMessageBatch", parameters);
    if (const auto failure = failure_in_batch(queues_, answer))
      throw Failure(fmt::format("printed, but not deleted: {}", failure->what()), *failure);
  }

  QueueClient& queues_;
  const QueueReceive& command_;
  const steady_clock::time_point until_;
  std::uint64_t received_ = 0;
};

}  // namespace

int run(QueueClient& queues, const QueueReceive& command) {
  return Receiving(queues, command).run();
}

int run(QueueClient& queues, const QueuePeek& command) {
  json::object parameters = queues.parameters();
  parameters["MaxNumberOfMessages"] = command.messages_max;
  const json::array messages = messages_of(queues.ask("PeekMessage", parameters));
  for (const json::value& message : messages)
    print_message(queues.context(), message.as_object(), false);
  return tell_if_none(queues, messages.size());
}

int run(QueueClient& queues, const QueueDelete& command) {
  std::uint64_t deleted = 0;
  for (const std::string& handle : command.receipt_handles) {
    json::object parameters = queues.parameters();
    parameters["ReceiptHandle"] = handle;
    queues.ask("DeleteMessage", parameters);
    ++deleted;
  }
  if (queues.context().json) {
    json::object object;
    object["deleted"] = deleted;
    print_json(object);
  } else {
    print_line(fmt::format("deleted {} {}", deleted, deleted == 1 ? "message" : "messages"));
  }
  return 0;
}

}  // namespace canopy::tools
