// Reads the parameters of the queue service's actions, whatever the protocol.
//
// `Fields` is one protocol's view of a structure's members (json_fields.hpp,
// query_fields.hpp). All views of a request share a FieldErrors: after the first
// failure members read as absent, and nobody has to look before the end.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "gateway/failure.hpp"
#include "gateway/member_name.hpp"
#include "gateway/queue_url.hpp"
#include "queue/actions.hpp"

namespace canopy::gateway {

class FieldErrors {
 public:
  void add(Failure failure) {
    if (!first_) first_ = std::move(failure);
  }
  bool any() const noexcept { return first_.has_value(); }
  Failure take() { return *std::move(first_); }

 private:
  std::optional<Failure> first_;
};

// What an action may need besides its parameters.
struct ReadContext {
  Place place;                                 // of the caller
  std::optional<queue::QueueName> path_queue;  // named by the request's own path
  std::size_t batch_entries_max = 10;
};

// What comes before a member's name where an error names it: nothing, or the
// entry of a batch. Made a text only then.
struct MemberLabel {
  const char* element = nullptr;
  std::size_t number = 0;

  std::string of(std::string_view name) const {
    return element ? fmt::format("{}.{}.{}", element, number, name) : std::string(name);
  }
};

template <class Fields>
class ActionReader {
 public:
  ActionReader(Fields fields, const ReadContext& context, FieldErrors& errors)
      : fields_(std::move(fields)), context_(context), errors_(errors) {}

  // Nothing if the queue service has no such action. Look at the errors first.
  std::optional<queue::Action> read(std::string_view action) {
    using namespace queue;
    struct Entry {
      std::string_view name;
      Action (ActionReader::*read)();
    };
    static constexpr Entry entries[] = {
        {"SendMessage", &ActionReader::send_message},
        {"ReceiveMessage", &ActionReader::receive_message},
        {"DeleteMessage", &ActionReader::delete_message},
        {"SendMessageBatch", &ActionReader::send_message_batch},
        {"DeleteMessageBatch", &ActionReader::delete_message_batch},
        {"ChangeMessageVisibility", &ActionReader::change_message_visibility},
        {"ChangeMessageVisibilityBatch", &ActionReader::change_message_visibility_batch},
        {"GetQueueUrl", &ActionReader::get_queue_url},
        {"GetQueueAttributes", &ActionReader::get_queue_attributes},
        {"SetQueueAttributes", &ActionReader::set_queue_attributes},
        {"CreateQueue", &ActionReader::create_queue},
        {"DeleteQueue", &ActionReader::on_queue<DeleteQueue>},
        {"PurgeQueue", &ActionReader::on_queue<PurgeQueue>},
        {"ListQueues", &ActionReader::list_queues},
        {"ListQueueTags", &ActionReader::on_queue<ListQueueTags>},
        {"TagQueue", &ActionReader::tag_queue},
        {"UntagQueue", &ActionReader::untag_queue},
        {"AddPermission", &ActionReader::add_permission},
        {"RemovePermission", &ActionReader::remove_permission},
        {"ListDeadLetterSourceQueues", &ActionReader::list_dead_letter_source_queues},
        {"StartMessageMoveTask", &ActionReader::start_message_move_task},
        {"CancelMessageMoveTask", &ActionReader::cancel_message_move_task},
        {"ListMessageMoveTasks", &ActionReader::list_message_move_tasks},
        {"PeekMessage", &ActionReader::peek_message},
    };
    for (const Entry& entry : entries)
      if (entry.name == action) return (this->*entry.read)();
    return std::nullopt;
  }

 private:
  // --- Queues ---

  queue::QueueName queue() {
    const auto url = fields_.text("QueueUrl");
    if (!url && context_.path_queue) return *context_.path_queue;
    if (!url) {
      errors_.add(missing_parameter("QueueUrl"));
      return {};
    }
    auto name = parse_queue_url(*url, context_.place);
    if (!name) errors_.add(invalid_address(*url));
    return std::move(name).value_or(queue::QueueName{});
  }

  template <class OnQueue>
  queue::Action on_queue() {
    return OnQueue{queue()};
  }

  queue::QueueName named_queue() {
    return {context_.place.region, context_.place.account, required("QueueName")};
  }

  queue::Action create_queue() {
    queue::CreateQueue action{named_queue(), fields_.text_map({"Attributes", "Attribute"}), {}};
    action.tags = fields_.text_map({"tags", "Tag"}, "Key");
    action.tags.merge(fields_.text_map({"Tags", "Tag"}, "Key"));
    return action;
  }

  queue::Action get_queue_url() {
    queue::GetQueueUrl action{named_queue()};
    if (const auto owner = fields_.text("QueueOwnerAWSAccountId"); owner && !owner->empty())
      action.queue.account = *owner;
    return action;
  }

  queue::Action list_queues() {
    queue::ListQueues action{context_.place.region, context_.place.account, {}, {}, {}, false};
    action.prefix = optional_text("QueueNamePrefix").value_or("");
    action.results_max = results_max(1'000);
    action.next_token = optional_text("NextToken").value_or("");
    action.containing_messages_only = fields_.boolean("ContainingMessagesOnly").value_or(false);
    return action;
  }

  queue::Action get_queue_attributes() {
    return queue::GetQueueAttributes{queue(), fields_.texts({"AttributeNames", "AttributeName"})};
  }

  queue::Action set_queue_attributes() {
    queue::SetQueueAttributes action{queue(), fields_.text_map({"Attributes", "Attribute"})};
    if (action.attributes.empty() && !fields_.has({"Attributes", "Attribute"}))
      errors_.add(missing_parameter("Attributes"));
    return action;
  }

  queue::Action tag_queue() {
    queue::TagQueue action{queue(), fields_.text_map({"Tags", "Tag"}, "Key")};
    if (action.tags.empty()) errors_.add(missing_parameter("Tags"));
    return action;
  }

  queue::Action untag_queue() {
    queue::UntagQueue action{queue(), fields_.texts({"TagKeys", "TagKey"})};
    if (action.keys.empty()) errors_.add(missing_parameter("TagKeys"));
    return action;
  }

  queue::Action add_permission() {
    queue::AddPermission action{queue(), required("Label"),
                                fields_.texts({"AWSAccountIds", "AWSAccountId"}),
                                fields_.texts({"Actions", "ActionName"})};
    if (action.accounts.empty()) errors_.add(missing_parameter("AWSAccountIds"));
    if (action.actions.empty()) errors_.add(missing_parameter("Actions"));
    return action;
  }

  queue::Action remove_permission() { return queue::RemovePermission{queue(), required("Label")}; }

  // --- Messages ---

  queue::Action send_message() {
    auto name = queue();
    return queue::SendMessage{std::move(name), send_entry(fields_, {})};
  }

  queue::Action send_message_batch() {
    auto name = queue();
    return queue::SendMessageBatch{
        std::move(name), batch<queue::SendEntry>("SendMessageBatchRequestEntry",
                                                 [this](Fields fields, MemberLabel label) {
                                                   auto entry = send_entry(fields, label);
                                                   entry.id = required(fields, "Id", label);
                                                   return entry;
                                                 })};
  }

  queue::SendEntry send_entry(Fields& fields, MemberLabel label) {
    queue::SendEntry entry;
    const auto body = fields.text("MessageBody");
    if (!body || body->empty())
      errors_.add(missing_parameter(label.of("MessageBody")));
    else
      entry.body = Buffer::copy_of(*body);
    fields.named_structures({"MessageAttributes", "MessageAttribute"},
                            [&](std::string name, Fields value) {
                              entry.attributes.insert_or_assign(std::move(name), attribute(value));
                            });
    fields.named_structures({"MessageSystemAttributes", "MessageSystemAttribute"},
                            [&](const std::string& name, Fields value) {
                              if (name != "AWSTraceHeader")
                                errors_.add(invalid_parameter(name, "MessageSystemAttributes",
                                                              "Only AWSTraceHeader can be set."));
                              entry.trace_header = attribute(value).value;
                            });
    entry.delay_seconds = fields.integer("DelaySeconds");
    entry.deduplication_id = optional_text(fields, "MessageDeduplicationId");
    entry.group_id = optional_text(fields, "MessageGroupId");
    return entry;
  }

  queue::MessageAttribute attribute(Fields& fields) {
    queue::MessageAttribute attribute;
    attribute.type = optional_text(fields, "DataType").value_or("");
    attribute.binary = attribute.type.starts_with("Binary");
    auto value =
        attribute.binary ? fields.blob("BinaryValue") : optional_text(fields, "StringValue");
    attribute.value = std::move(value).value_or("");
    if (!fields.texts({"StringListValues", "StringListValue"}).empty() ||
        !fields.texts({"BinaryListValues", "BinaryListValue"}).empty())
      errors_.add(failure(queue::ErrorCode::unsupported_operation,
                          "Message attribute list values in SendMessage operation are not "
                          "supported."));
    return attribute;
  }

  queue::Action receive_message() {
    queue::ReceiveMessage action;
    action.queue = queue();
    action.messages_max = fields_.integer("MaxNumberOfMessages");
    action.visibility_timeout = fields_.integer("VisibilityTimeout");
    action.wait_time_seconds = fields_.integer("WaitTimeSeconds");
    action.attempt_id = optional_text("ReceiveRequestAttemptId");
    action.system_attribute_names = fields_.texts({"AttributeNames", "AttributeName"});
    for (auto& name : fields_.texts({"MessageSystemAttributeNames", "MessageSystemAttributeName"}))
      action.system_attribute_names.push_back(std::move(name));
    action.message_attribute_names =
        fields_.texts({"MessageAttributeNames", "MessageAttributeName"});
    return action;
  }

  queue::Action peek_message() {
    return queue::PeekMessage{queue(), fields_.integer("MaxNumberOfMessages")};
  }

  queue::Action delete_message() {
    auto name = queue();
    return queue::DeleteMessage{std::move(name), handle(fields_, {})};
  }

  queue::Action delete_message_batch() {
    auto name = queue();
    return queue::DeleteMessageBatch{
        std::move(name),
        batch<queue::DeleteEntry>(
            "DeleteMessageBatchRequestEntry", [this](Fields fields, MemberLabel label) {
              return queue::DeleteEntry{required(fields, "Id", label), handle(fields, label)};
            })};
  }

  queue::Action change_message_visibility() {
    queue::ChangeMessageVisibility action{queue(), handle(fields_, {}), 0};
    const auto timeout = fields_.integer("VisibilityTimeout");
    if (!timeout) errors_.add(missing_parameter("VisibilityTimeout"));
    action.visibility_timeout = timeout.value_or(0);
    return action;
  }

  queue::Action change_message_visibility_batch() {
    auto name = queue();
    return queue::ChangeMessageVisibilityBatch{
        std::move(name),
        batch<queue::VisibilityEntry>(
            "ChangeMessageVisibilityBatchRequestEntry", [this](Fields fields, MemberLabel label) {
              return queue::VisibilityEntry{required(fields, "Id", label), handle(fields, label),
                                            fields.integer("VisibilityTimeout").value_or(0)};
            })};
  }

  // The one text that clients of the query protocol have been seen to send with
  // its '+' unescaped. No handle has spaces.
  std::string handle(Fields& fields, MemberLabel label) {
    std::string handle = required(fields, "ReceiptHandle", label);
    std::replace(handle.begin(), handle.end(), ' ', '+');
    return handle;
  }

  template <class Entry, class ReadEntry>
  std::vector<Entry> batch(const char* element, ReadEntry read_entry) {
    std::vector<Entry> entries;
    const std::size_t count =
        fields_.structures({"Entries", element}, [&](Fields fields, std::size_t number) {
          if (number <= context_.batch_entries_max)
            entries.push_back(read_entry(fields, MemberLabel{element, number}));
        });
    if (count == 0)
      errors_.add(failure(queue::ErrorCode::empty_batch_request,
                          fmt::format("There should be at least one {} in the request.", element)));
    if (count > context_.batch_entries_max)
      errors_.add(
          failure(queue::ErrorCode::too_many_entries_in_batch_request,
                  fmt::format("Maximum number of entries per request are {}. You have sent {}.",
                              context_.batch_entries_max, count)));
    return entries;
  }

  // --- Dead letters ---

  queue::Action list_dead_letter_source_queues() {
    auto name = queue();
    return queue::ListDeadLetterSourceQueues{std::move(name), results_max(1'000),
                                             optional_text("NextToken").value_or("")};
  }

  queue::Action start_message_move_task() {
    return queue::StartMessageMoveTask{required("SourceArn"),
                                       optional_text("DestinationArn").value_or(""),
                                       fields_.integer("MaxNumberOfMessagesPerSecond")};
  }

  queue::Action cancel_message_move_task() {
    return queue::CancelMessageMoveTask{required("TaskHandle")};
  }

  queue::Action list_message_move_tasks() {
    auto source = required("SourceArn");
    return queue::ListMessageMoveTasks{std::move(source), results_max(10)};
  }

  // --- Members ---

  std::optional<std::string> optional_text(Fields& fields, MemberName name) {
    const auto text = fields.text(name);
    return text ? std::optional<std::string>(*text) : std::nullopt;
  }
  std::optional<std::string> optional_text(MemberName name) { return optional_text(fields_, name); }

  std::string required(Fields& fields, MemberName name, MemberLabel label) {
    const auto text = fields.text(name);
    if (!text || text->empty()) errors_.add(missing_parameter(label.of(name.json)));
    return std::string(text.value_or(""));
  }
  std::string required(MemberName name) { return required(fields_, name, {}); }

  std::optional<std::uint32_t> results_max(std::int64_t most) {
    const auto value = fields_.integer("MaxResults");
    if (!value) return std::nullopt;
    if (*value < 1 || *value > most)
      errors_.add(
          invalid_parameter(std::to_string(*value), "MaxResults",
                            fmt::format("MaxResults must be an integer between 1 and {}.", most)));
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(*value, 1, most));
  }

  Fields fields_;
  const ReadContext& context_;
  FieldErrors& errors_;
};

}  // namespace canopy::gateway
