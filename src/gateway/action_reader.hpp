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
#include "queue/message_checks.hpp"

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
  std::string_view trace = {};  // of the request, for messages that have none
};

// An entry of a batch, where an error names a member of it. Made a text only then.
struct EntryLabel {
  const char* element;
  std::size_t number;

  std::string of(std::string_view name) const {
    return fmt::format("{}.{}.{}", element, number, name);
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

  // Without one AWS has a message of its own.
  queue::QueueName named_queue(std::optional<std::string> name) {
    if (!name)
      errors_.add(failure(queue::ErrorCode::invalid_parameter_value,
                          "Value for parameter QueueName is invalid. Reason: Must specify a queue "
                          "name."));
    return {context_.place.region, context_.place.account, std::move(name).value_or("")};
  }

  queue::Action create_queue() {
    // An empty one has a message of its own.
    queue::CreateQueue action{
        named_queue(optional_text("QueueName")), fields_.text_map({"Attributes", "Attribute"}), {}};
    action.tags = fields_.text_map({"tags", "Tag"}, "Key");
    action.tags.merge(fields_.text_map({"Tags", "Tag"}, "Key"));
    return action;
  }

  queue::Action get_queue_url() {
    auto name = optional_text("QueueName");
    if (name && name->empty()) name.reset();
    queue::GetQueueUrl action{named_queue(std::move(name))};
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
    if (action.attributes.empty()) errors_.add(missing_parameter("Attribute.Name"));
    return action;
  }

  queue::Action tag_queue() {
    queue::TagQueue action{queue(), fields_.text_map({"Tags", "Tag"}, "Key")};
    if (action.tags.empty()) errors_.add(missing_parameter("Tags"));
    return action;
  }

  queue::Action untag_queue() {
    queue::UntagQueue action{queue(), filled_texts({"TagKeys", "TagKey"})};
    if (action.keys.empty())
      errors_.add(failure(queue::ErrorCode::invalid_parameter_value,
                          "Tag keys must be between 1 and 128 characters in length."));
    return action;
  }

  queue::Action add_permission() {
    queue::AddPermission action{queue(), required("Label"),
                                filled_texts({"AWSAccountIds", "AWSAccountId"}),
                                filled_texts({"Actions", "ActionName"})};
    if (action.accounts.empty())
      errors_.add(invalid_parameter("[]", "PrincipalId", "Unable to verify."));
    if (action.actions.empty()) errors_.add(missing_parameter("Actions"));
    return action;
  }

  queue::Action remove_permission() { return queue::RemovePermission{queue(), required("Label")}; }

  // --- Messages ---

  queue::Action send_message() {
    auto name = queue();
    auto entry = send_entry(fields_);
    if (entry.body.view().empty()) errors_.add(missing_parameter("MessageBody"));
    return queue::SendMessage{std::move(name), std::move(entry)};
  }

  queue::Action send_message_batch() {
    auto name = queue();
    return queue::SendMessageBatch{std::move(name),
                                   batch<queue::SendEntry>("SendMessageBatchRequestEntry",
                                                           [this](Fields fields, EntryLabel label) {
                                                             auto entry = send_entry(fields);
                                                             entry.id = entry_id(fields, label);
                                                             return entry;
                                                           })};
  }

  queue::SendEntry send_entry(Fields& fields) {
    queue::SendEntry entry;
    if (const auto body = fields.text("MessageBody")) entry.body = Buffer::copy_of(*body);
    fields.named_structures({"MessageAttributes", "MessageAttribute"},
                            [&](std::string name, Fields value) {
                              entry.attributes.insert_or_assign(std::move(name), attribute(value));
                            });
    fields.named_structures(
        {"MessageSystemAttributes", "MessageSystemAttribute"},
        [&](const std::string& name, Fields value) {
          if (name != "AWSTraceHeader")
            errors_.add(
                failure(queue::ErrorCode::invalid_parameter_value,
                        fmt::format("Message system attribute name '{}' is invalid.", name)));
          entry.trace_header = attribute(value).value;
        });
    if (!context_.trace.empty() && queue::is_message_text(context_.trace))
      entry.trace_of_request.emplace(context_.trace);
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
    action.system_attribute_names = system_attribute_names();
    action.message_attribute_names =
        fields_.texts({"MessageAttributeNames", "MessageAttributeName"});
    return action;
  }

  // Of the two members that ask for the same, each protocol prefers one.
  std::vector<std::string> system_attribute_names() {
    MemberName first{"MessageSystemAttributeNames", "MessageSystemAttributeName"};
    MemberName second{"AttributeNames", "AttributeName"};
    if (Fields::prefers_older_names) std::swap(first, second);
    auto names = fields_.texts(first);
    return names.empty() ? fields_.texts(second) : names;
  }

  queue::Action peek_message() {
    return queue::PeekMessage{queue(), fields_.integer("MaxNumberOfMessages"),
                              fields_.boolean("ShowInvisible").value_or(false),
                              fields_.boolean("ShowDelayed").value_or(false)};
  }

  queue::Action delete_message() {
    auto name = queue();
    return queue::DeleteMessage{std::move(name), required_handle()};
  }

  queue::Action delete_message_batch() {
    auto name = queue();
    return queue::DeleteMessageBatch{
        std::move(name),
        batch<queue::DeleteEntry>(
            "DeleteMessageBatchRequestEntry", [this](Fields fields, EntryLabel label) {
              return queue::DeleteEntry{entry_id(fields, label), handle(fields)};
            })};
  }

  queue::Action change_message_visibility() {
    queue::ChangeMessageVisibility action{queue(), required_handle(), 0};
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
            "ChangeMessageVisibilityBatchRequestEntry", [this](Fields fields, EntryLabel label) {
              return queue::VisibilityEntry{entry_id(fields, label), handle(fields),
                                            fields.integer("VisibilityTimeout")};
            })};
  }

  // The one text that clients of the query protocol have been seen to send with
  // its '+' unescaped. No handle has spaces.
  std::string handle(Fields& fields) {
    std::string handle = optional_text(fields, "ReceiptHandle").value_or("");
    std::replace(handle.begin(), handle.end(), ' ', '+');
    return handle;
  }
  std::string required_handle() {
    auto text = handle(fields_);
    if (text.empty()) errors_.add(missing_parameter("ReceiptHandle"));
    return text;
  }

  // An empty one is there, and invalid.
  std::string entry_id(Fields& fields, EntryLabel label) {
    auto id = optional_text(fields, "Id");
    if (!id) errors_.add(missing_parameter(label.of("Id")));
    return std::move(id).value_or("");
  }

  template <class Entry, class ReadEntry>
  std::vector<Entry> batch(const char* element, ReadEntry read_entry) {
    std::vector<Entry> entries;
    const std::size_t count =
        fields_.structures({"Entries", element}, [&](Fields fields, std::size_t number) {
          if (number <= context_.batch_entries_max)
            entries.push_back(read_entry(fields, EntryLabel{element, number}));
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

  // The query protocol has an empty text for an empty list.
  std::vector<std::string> filled_texts(MemberName name) {
    auto texts = fields_.texts(name);
    std::erase(texts, std::string());
    return texts;
  }

  std::string required(MemberName name) {
    const auto text = fields_.text(name);
    if (!text || text->empty()) errors_.add(missing_parameter(name.json));
    return std::string(text.value_or(""));
  }

  std::optional<std::uint32_t> results_max(std::int64_t most) {
    const auto value = fields_.integer("MaxResults");
    if (!value) return std::nullopt;
    if (*value < 1 || *value > most)
      errors_.add(failure(
          queue::ErrorCode::invalid_parameter_value,
          fmt::format("Value for parameter MaxResults is invalid. Reason: MaxResults must be an "
                      "integer between 1 and {}.",
                      most)));
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(*value, 1, most));
  }

  Fields fields_;
  const ReadContext& context_;
  FieldErrors& errors_;
};

}  // namespace canopy::gateway
