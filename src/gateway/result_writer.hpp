// Writes the members of the queue service's results, whatever the protocol:
// Writer is JsonWriter, PlainJsonWriter or XmlWriter.
#pragma once

#include <string_view>
#include <vector>

#include "gateway/failure.hpp"
#include "gateway/member_name.hpp"
#include "gateway/queue_url.hpp"
#include "queue/actions.hpp"

namespace canopy::gateway {

template <class Writer>
class ResultWriter {
 public:
  // `place` says by which URL the caller reached us; `queues` how a list of
  // queues is called, which AWS spells in two ways.
  ResultWriter(Writer& writer, const Place& place, MemberName queues = {"QueueUrls", "QueueUrl"})
      : writer_(writer), place_(place), queues_(queues) {}

  void operator()(const queue::Done&) {}

  void operator()(const queue::CreateQueueResult& result) { url(result.queue); }
  void operator()(const queue::GetQueueUrlResult& result) { url(result.queue); }

  void operator()(const queue::ListQueuesResult& result) {
    std::vector<std::string> urls;
    urls.reserve(result.queues.size());
    for (const auto& queue : result.queues) urls.push_back(queue_url(queue, place_));
    writer_.texts(queues_, urls);
    optional("NextToken", result.next_token);
  }

  void operator()(const queue::GetQueueAttributesResult& result) {
    writer_.text_map({"Attributes", "Attribute"}, result.attributes);
  }

  void operator()(const queue::ListQueueTagsResult& result) {
    writer_.text_map({"Tags", "Tag"}, result.tags, "Key");
  }

  void operator()(const queue::Sent& result) { sent(writer_, result); }

  void operator()(const queue::SendMessageBatchResult& result) {
    writer_.structures({"Successful", "SendMessageBatchResultEntry"}, result.successful,
                       [](Writer& writer, const queue::Sent& entry) {
                         writer.text("Id", entry.id);
                         sent(writer, entry);
                       });
    failed(result.failed);
  }

  void operator()(const queue::ReceiveMessageResult& result) {
    writer_.structures({"Messages", "Message"}, result.messages, message);
  }

  // `entry` is the name of what the XML calls an entry of the action at hand.
  void batch(const queue::BatchResult& result, const char* entry) {
    writer_.structures({"Successful", entry}, result.successful,
                       [](Writer& writer, const std::string& id) { writer.text("Id", id); });
    failed(result.failed);
  }
  void operator()(const queue::BatchResult& result) {
    batch(result, "DeleteMessageBatchResultEntry");
  }

  void operator()(const queue::StartMessageMoveTaskResult& result) {
    writer_.text("TaskHandle", result.task_handle);
  }

  void operator()(const queue::CancelMessageMoveTaskResult& result) {
    writer_.number("ApproximateNumberOfMessagesMoved", static_cast<std::int64_t>(result.moved));
  }

  void operator()(const queue::ListMessageMoveTasksResult& result) {
    if (result.tasks.empty()) writer_.empty_list("Results");
    writer_.structures({"Results", "ListMessageMoveTasksResultEntry"}, result.tasks, task);
  }

  // Of the process's own: no protocol asks for them.
  void operator()(const queue::Bridge&) {}
  void operator()(const queue::ListBridgesResult&) {}

 private:
  static void optional(Writer& writer, std::string_view name, std::string_view value) {
    if (value.empty()) {
      writer.none(name);
    } else {
      writer.text(name, value);
    }
  }
  void optional(std::string_view name, std::string_view value) { optional(writer_, name, value); }

  void url(const queue::QueueName& queue) { writer_.text("QueueUrl", queue_url(queue, place_)); }

  static void sent(Writer& writer, const queue::Sent& sent) {
    writer.text("MessageId", sent.message_id);
    writer.text("MD5OfMessageBody", sent.body_md5);
    optional(writer, "MD5OfMessageAttributes", sent.attributes_md5);
    optional(writer, "MD5OfMessageSystemAttributes", sent.system_attributes_md5);
    optional(writer, "SequenceNumber", sent.sequence_number);
  }

  void failed(const std::vector<queue::BatchFailure>& failures) {
    writer_.structures({"Failed", "BatchResultErrorEntry"}, failures,
                       [](Writer& writer, const queue::BatchFailure& failure) {
                         const queue::ErrorInfo& info = queue::info(failure.error.code);
                         writer.text("Id", failure.id);
                         writer.boolean("SenderFault", info.sender_fault);
                         writer.text("Code", info.query_code);
                         writer.text("Message", failure.error.message);
                       });
  }

  static void message(Writer& writer, const queue::Message& message) {
    writer.text("MessageId", message.message_id);
    optional(writer, "ReceiptHandle", message.receipt_handle);
    writer.text("MD5OfBody", message.body_md5);
    writer.text("Body", message.body.view());
    writer.text_map({"Attributes", "Attribute"}, message.attributes);
    optional(writer, "MD5OfMessageAttributes", message.attributes_md5);
    writer.named_structures({"MessageAttributes", "MessageAttribute"}, message.message_attributes,
                            [](Writer& value_writer, const queue::MessageAttribute& attribute) {
                              if (attribute.binary)
                                value_writer.blob("BinaryValue", attribute.value);
                              else
                                value_writer.text("StringValue", attribute.value);
                              value_writer.text("DataType", attribute.type);
                            });
  }

  static void task(Writer& writer, const queue::MessageMoveTask& task) {
    optional(writer, "TaskHandle", task.task_handle);
    writer.text("Status", task.status);
    writer.text("SourceArn", task.source_arn);
    optional(writer, "DestinationArn", task.destination_arn);
    if (task.messages_per_second_max)
      writer.number("MaxNumberOfMessagesPerSecond", *task.messages_per_second_max);
    writer.number("ApproximateNumberOfMessagesMoved", static_cast<std::int64_t>(task.moved));
    if (task.to_move)
      writer.number("ApproximateNumberOfMessagesToMove", static_cast<std::int64_t>(*task.to_move));
    optional(writer, "FailureReason", task.failure_reason);
    writer.number("StartedTimestamp", task.started_ms);
  }

  Writer& writer_;
  const Place& place_;
  MemberName queues_;
};

}  // namespace canopy::gateway
