#include "gateway/json_request.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace canopy::gateway {
namespace {

const ReadContext json_context{{"eu-west-1", "111122223333", "http://localhost:9324"}, {}, 10};

template <class Action>
Action read(std::string_view name, std::string_view body) {
  auto result = read_json_request(name, body, json_context);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? std::get<Action>(*std::move(result)) : Action{};
}

Failure refused(std::string_view name, std::string_view body) {
  auto result = read_json_request(name, body, json_context);
  return result ? Failure{} : result.error();
}

const std::string json_url = R"("QueueUrl":"http://localhost:9324/111122223333/q")";

TEST(JsonRequest, ReadsASendWithEverything) {
  const auto send = read<queue::SendMessage>(
      "SendMessage",
      "{" + json_url +
          R"(,"MessageBody":"h\u00e9\n","DelaySeconds":5,)"
          R"("MessageAttributes":{"a":{"DataType":"String","StringValue":"x"},)"
          R"("b":{"DataType":"Binary.z","BinaryValue":"AAE="}},)"
          R"("MessageSystemAttributes":{"AWSTraceHeader":{"DataType":"String","StringValue":"t"}},)"
          R"("MessageGroupId":"g","MessageDeduplicationId":"d"})");
  EXPECT_EQ(send.queue, (queue::QueueName{"eu-west-1", "111122223333", "q"}));
  EXPECT_EQ(send.entry.body.view(), "h\xC3\xA9\n");
  EXPECT_EQ(send.entry.delay_seconds, 5);
  EXPECT_EQ(send.entry.attributes.at("a"), (queue::MessageAttribute{"String", false, "x"}));
  EXPECT_EQ(send.entry.attributes.at("b"),
            (queue::MessageAttribute{"Binary.z", true, std::string("\0\1", 2)}));
  EXPECT_EQ(send.entry.trace_header, "t");
  EXPECT_EQ(send.entry.group_id, "g");
  EXPECT_EQ(send.entry.deduplication_id, "d");
}

TEST(JsonRequest, SaysWhichParameterIsMissing) {
  const Failure body = refused("SendMessage", "{" + json_url + "}");
  EXPECT_EQ(body.info.query_code, "MissingParameter");
  EXPECT_EQ(body.message, "The request must contain the parameter MessageBody.");
  EXPECT_EQ(refused("SendMessage", "{" + json_url + R"(,"MessageBody":""})").info.query_code,
            "MissingParameter");
  EXPECT_EQ(refused("DeleteQueue", "").message, "The request must contain the parameter QueueUrl.");
  EXPECT_EQ(refused("CreateQueue", "{}").message,
            "Value for parameter QueueName is invalid. Reason: Must specify a queue name.");
  EXPECT_EQ(refused("SendMessageBatch", "{" + json_url + R"(,"Entries":[{}]})").message,
            "The request must contain the parameter SendMessageBatchRequestEntry.1.Id.");
}

TEST(JsonRequest, LeavesWhatOnlyAnEntryLacksToTheQueue) {
  const auto sent = read<queue::SendMessageBatch>("SendMessageBatch",
                                                  "{" + json_url + R"(,"Entries":[{"Id":""}]})");
  EXPECT_EQ(sent.entries.at(0).id, "");
  EXPECT_EQ(sent.entries.at(0).body.view(), "");
  const auto changed = read<queue::ChangeMessageVisibilityBatch>(
      "ChangeMessageVisibilityBatch", "{" + json_url + R"(,"Entries":[{"Id":"1"}]})");
  EXPECT_EQ(changed.entries.at(0).receipt_handle, "");
  EXPECT_EQ(changed.entries.at(0).visibility_timeout, std::nullopt);
}

TEST(JsonRequest, TakesNumbersAndBooleansForTexts) {
  const auto body = [](const std::string& value) {
    const auto send =
        read<queue::SendMessage>("SendMessage", "{" + json_url + ",\"MessageBody\":" + value + "}");
    return std::string(send.entry.body.view());
  };
  EXPECT_EQ(body("5"), "5");
  EXPECT_EQ(body("-2.5"), "-2.5");
  EXPECT_EQ(body("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(body("false"), "false");
}

TEST(JsonRequest, RefusesValuesOfTheWrongKind) {
  const Failure text = refused("ReceiveMessage", "{" + json_url + R"(,"WaitTimeSeconds":"5"})");
  EXPECT_EQ(text.info.json_type, "SerializationException");
  EXPECT_EQ(text.message, "STRING_VALUE can not be converted to an Integer");
  EXPECT_EQ(refused("SendMessage", "{" + json_url + R"(,"MessageBody":{}})").message,
            "Start of structure or map found where not expected.");
  EXPECT_EQ(refused("SendMessage", "{" + json_url + R"(,"MessageBody":[]})").message,
            "Start of list found where not expected");
  EXPECT_EQ(refused("SendMessageBatch", "{" + json_url + R"(,"Entries":{}})").info.json_type,
            "SerializationException");
  EXPECT_EQ(refused("SendMessage", "{").info.json_type, "SerializationException");
  EXPECT_EQ(refused("SendMessage", "[]").info.json_type, "SerializationException");
  EXPECT_EQ(refused("SendMessage", std::string(100, '[')).info.json_type, "SerializationException");
  EXPECT_EQ(refused("ListQueues", "{\"QueueNamePrefix\":\"\xff\"}").info.json_type,
            "SerializationException");
}

TEST(JsonRequest, IgnoresUnknownMembersAndNull) {
  const auto receive = read<queue::ReceiveMessage>(
      "ReceiveMessage", "{" + json_url + R"(,"What":[1],"MaxNumberOfMessages":null})");
  EXPECT_EQ(receive.messages_max, std::nullopt);
}

TEST(JsonRequest, PrefersTheNewerListOfSystemAttributes) {
  const auto receive = read<queue::ReceiveMessage>(
      "ReceiveMessage",
      "{" + json_url +
          R"(,"AttributeNames":["SenderId"],)"
          R"("MessageSystemAttributeNames":["All"],"MessageAttributeNames":["a.*"],)"
          R"("MaxNumberOfMessages":10,"VisibilityTimeout":0,"WaitTimeSeconds":20})");
  EXPECT_EQ(receive.system_attribute_names, std::vector<std::string>{"All"});
  EXPECT_EQ(receive.message_attribute_names, std::vector<std::string>{"a.*"});
  EXPECT_EQ(receive.visibility_timeout, 0);
}

TEST(JsonRequest, CountsTheEntriesOfABatch) {
  const Failure none = refused("DeleteMessageBatch", "{" + json_url + R"(,"Entries":[]})");
  EXPECT_EQ(none.info.query_code, "AWS.SimpleQueueService.EmptyBatchRequest");
  EXPECT_EQ(none.message,
            "There should be at least one DeleteMessageBatchRequestEntry in the request.");
  std::string entries;
  for (int i = 0; i < 11; ++i)
    entries += fmt::format(R"({}{{"Id":"{}","ReceiptHandle":"h"}})", i ? "," : "", i);
  const Failure many =
      refused("DeleteMessageBatch", "{" + json_url + ",\"Entries\":[" + entries + "]}");
  EXPECT_EQ(many.info.query_code, "AWS.SimpleQueueService.TooManyEntriesInBatchRequest");
  EXPECT_EQ(many.message, "Maximum number of entries per request are 10. You have sent 11.");
}

TEST(JsonRequest, TakesTheQueueOfThePath) {
  ReadContext on_queue = json_context;
  on_queue.path_queue = queue::QueueName{"eu-west-1", "111122223333", "here"};
  const auto read = read_json_request("PurgeQueue", "{}", on_queue);
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<queue::PurgeQueue>(*read).queue.name, "here");
}

TEST(JsonRequest, KnowsNoOtherActions) {
  EXPECT_EQ(refused("Dance", "{}").info.json_type, "UnknownOperationException");
}

TEST(JsonRequest, RefusesAnAddressThatIsNoQueue) {
  const Failure failure = refused("PurgeQueue", R"({"QueueUrl":"non/sense"})");
  EXPECT_EQ(failure.info.json_type, "InvalidAddress");
  EXPECT_EQ(failure.info.http_status, 404);
  EXPECT_EQ(failure.message, "The address non/sense is not valid for this endpoint.");
}

TEST(JsonRequest, KeepsListLimitsInRange) {
  EXPECT_EQ(refused("ListQueues", R"({"MaxResults":0})").info.query_code, "InvalidParameterValue");
  EXPECT_EQ(refused("ListQueues", R"({"MaxResults":1001})").info.query_code,
            "InvalidParameterValue");
  EXPECT_EQ(read<queue::ListQueues>("ListQueues", R"({"MaxResults":1000})").results_max, 1000U);
}

}  // namespace
}  // namespace canopy::gateway
