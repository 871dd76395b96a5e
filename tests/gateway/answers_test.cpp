#include "gateway/answers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gateway/json_writer.hpp"
#include "gateway/xml_writer.hpp"

namespace canopy::gateway {
namespace {

const Place place{"us-east-1", "000000000000", "http://localhost:9324"};

Answer json(std::string_view action, const queue::Result& result) {
  return write_result(Protocol::json, action, result, place, "id");
}
Answer xml(std::string_view action, const queue::Result& result) {
  return write_result(Protocol::query, action, result, place, "id");
}

std::string in_xml(std::string_view action, std::string_view result) {
  return fmt::format(
      "<?xml version=\"1.0\"?><{0}Response xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\">{1}"
      "<ResponseMetadata><RequestId>id</RequestId></ResponseMetadata></{0}Response>",
      action, result);
}

TEST(Answers, ASendInBothProtocols) {
  const queue::Sent sent{"", "m", "b5", "a5", "", "18"};
  EXPECT_EQ(json("SendMessage", sent).body,
            R"({"MessageId":"m","MD5OfMessageBody":"b5","MD5OfMessageAttributes":"a5",)"
            R"("SequenceNumber":"18"})");
  EXPECT_EQ(json("SendMessage", sent).content_type, "application/x-amz-json-1.0");
  EXPECT_EQ(xml("SendMessage", sent).body,
            in_xml("SendMessage",
                   "<SendMessageResult><MessageId>m</MessageId>"
                   "<MD5OfMessageBody>b5</MD5OfMessageBody><MD5OfMessageAttributes>a5"
                   "</MD5OfMessageAttributes><SequenceNumber>18</SequenceNumber>"
                   "</SendMessageResult>"));
  EXPECT_EQ(xml("SendMessage", sent).content_type, "text/xml");
}

TEST(Answers, AReceiveOfNothing) {
  EXPECT_EQ(json("ReceiveMessage", queue::ReceiveMessageResult{}).body, "{}");
  EXPECT_EQ(xml("ReceiveMessage", queue::ReceiveMessageResult{}).body,
            in_xml("ReceiveMessage", "<ReceiveMessageResult/>"));
}

TEST(Answers, AReceivedMessage) {
  queue::Message message;
  message.message_id = "m";
  message.receipt_handle = "h";
  message.body = Buffer::copy_of("a\r\n<&\">");
  message.body_md5 = "b5";
  message.attributes = {{"SenderId", "s"}};
  message.message_attributes = {{"b", {"Binary", true, std::string("\0\1", 2)}},
                                {"n", {"Number", false, "4"}}};
  message.attributes_md5 = "a5";
  const queue::ReceiveMessageResult result{{message}};
  EXPECT_EQ(json("ReceiveMessage", result).body,
            R"({"Messages":[{"MessageId":"m","ReceiptHandle":"h","MD5OfBody":"b5",)"
            R"("Body":"a\r\n<&\">","Attributes":{"SenderId":"s"},"MD5OfMessageAttributes":"a5",)"
            R"("MessageAttributes":{"b":{"BinaryValue":"AAE=","DataType":"Binary"},)"
            R"("n":{"StringValue":"4","DataType":"Number"}}}]})");
  EXPECT_EQ(xml("ReceiveMessage", result).body,
            in_xml("ReceiveMessage",
                   "<ReceiveMessageResult><Message><MessageId>m</MessageId>"
                   "<ReceiptHandle>h</ReceiptHandle><MD5OfBody>b5</MD5OfBody>"
                   "<Body>a&#xd;\n&lt;&amp;&quot;&gt;</Body>"
                   "<Attribute><Name>SenderId</Name><Value>s</Value></Attribute>"
                   "<MD5OfMessageAttributes>a5</MD5OfMessageAttributes>"
                   "<MessageAttribute><Name>b</Name><Value><BinaryValue>AAE=</BinaryValue>"
                   "<DataType>Binary</DataType></Value></MessageAttribute>"
                   "<MessageAttribute><Name>n</Name><Value><StringValue>4</StringValue>"
                   "<DataType>Number</DataType></Value></MessageAttribute>"
                   "</Message></ReceiveMessageResult>"));
}

TEST(Answers, LeaveOutEmptyListsInJson) {
  EXPECT_EQ(json("DeleteMessageBatch", queue::BatchResult{{"a"}, {}}).body,
            R"({"Successful":[{"Id":"a"}]})");
  EXPECT_EQ(json("ListQueues", queue::ListQueuesResult{}).body, "{}");
  EXPECT_EQ(json("ListQueueTags", queue::ListQueueTagsResult{}).body, "{}");
}

TEST(Answers, NameTheEntriesOfABatchByItsAction) {
  const queue::BatchResult result{{"a"},
                                  {{"b", {queue::ErrorCode::receipt_handle_is_invalid, "?"}}}};
  const std::string failed =
      "<BatchResultErrorEntry><Id>b</Id><SenderFault>true</SenderFault>"
      "<Code>ReceiptHandleIsInvalid</Code><Message>?</Message></BatchResultErrorEntry>";
  EXPECT_EQ(xml("DeleteMessageBatch", result).body,
            in_xml("DeleteMessageBatch",
                   "<DeleteMessageBatchResult><DeleteMessageBatchResultEntry><Id>a</Id>"
                   "</DeleteMessageBatchResultEntry>" +
                       failed + "</DeleteMessageBatchResult>"));
  EXPECT_EQ(xml("ChangeMessageVisibilityBatch", result).body,
            in_xml("ChangeMessageVisibilityBatch",
                   "<ChangeMessageVisibilityBatchResult>"
                   "<ChangeMessageVisibilityBatchResultEntry><Id>a</Id>"
                   "</ChangeMessageVisibilityBatchResultEntry>" +
                       failed + "</ChangeMessageVisibilityBatchResult>"));
}

TEST(Answers, SpellListsOfQueuesAsAwsDoes) {
  const queue::ListQueuesResult result{{{"us-east-1", "000000000000", "q"}}, "more"};
  EXPECT_EQ(json("ListQueues", result).body,
            R"({"QueueUrls":["http://localhost:9324/000000000000/q"],"NextToken":"more"})");
  EXPECT_EQ(json("ListDeadLetterSourceQueues", result).body,
            R"({"queueUrls":["http://localhost:9324/000000000000/q"],"NextToken":"more"})");
  EXPECT_EQ(xml("ListQueues", result).body,
            in_xml("ListQueues",
                   "<ListQueuesResult><QueueUrl>http://localhost:9324/000000000000/q</QueueUrl>"
                   "<NextToken>more</NextToken></ListQueuesResult>"));
}

TEST(Answers, SayNothingWhereThereIsNoResult) {
  EXPECT_EQ(json("DeleteQueue", queue::Done{}).body, "{}");
  EXPECT_EQ(xml("DeleteQueue", queue::Done{}).body, in_xml("DeleteQueue", ""));
}

TEST(Answers, OfTheQueryProtocolWhereJsonWasAskedFor) {
  const auto plain = [](std::string_view action, const queue::Result& result) {
    const Answer answer = write_result(Protocol::query_json, action, result, place, "id");
    EXPECT_EQ(answer.content_type, "application/json");
    return answer.body;
  };
  const std::string end = R"("ResponseMetadata":{"RequestId":"id"}}})";
  EXPECT_EQ(plain("SendMessage", queue::Sent{"", "m", "b5", "", "", ""}),
            R"({"SendMessageResponse":{"SendMessageResult":{"MessageId":"m",)"
            R"("MD5OfMessageBody":"b5","MD5OfMessageAttributes":null,)"
            R"("MD5OfMessageSystemAttributes":null,"SequenceNumber":null},)" +
                end);
  queue::Message message;
  message.message_id = "m";
  message.receipt_handle = "h";
  message.body = Buffer::copy_of("b");
  message.body_md5 = "b5";
  message.attributes = {{"SenderId", "s"}};
  EXPECT_EQ(plain("ReceiveMessage", queue::ReceiveMessageResult{{message}}),
            R"({"ReceiveMessageResponse":{"ReceiveMessageResult":{"messages":[{"MessageId":"m",)"
            R"("ReceiptHandle":"h","MD5OfBody":"b5","Body":"b",)"
            R"("Attributes":[{"Name":"SenderId","Value":"s"}],"MD5OfMessageAttributes":null,)"
            R"("MessageAttributes":null}]},)" +
                end);
  EXPECT_EQ(plain("ReceiveMessage", queue::ReceiveMessageResult{}),
            R"({"ReceiveMessageResponse":{"ReceiveMessageResult":{"messages":null},)" + end);
  EXPECT_EQ(
      plain("ListQueues", queue::ListQueuesResult{}),
      R"({"ListQueuesResponse":{"ListQueuesResult":{"queueUrls":null,"NextToken":null},)" + end);
  EXPECT_EQ(plain("DeleteQueue", queue::Done{}), R"({"DeleteQueueResponse":{)" + end);
}

TEST(Answers, FailuresWhereJsonWasAskedFor) {
  const Failure missing =
      failure(queue::ErrorCode::queue_does_not_exist, "The specified queue does not exist.");
  const std::string error =
      R"({"Error":{"Code":"AWS.SimpleQueueService.NonExistentQueue","Message":"The specified )"
      R"(queue does not exist for this wsdl version.","Type":"Sender"},"RequestId":"id"})";
  const Answer answer = write_failure(Protocol::query_json, missing, "id");
  EXPECT_EQ(answer.body, error);
  EXPECT_EQ(answer.status, 400U);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_EQ(write_failure(Protocol::peek_json, missing, "id").body,
            R"({"ErrorResponse":)" + error + "}");
}

TEST(Answers, ListTasksEvenWhereThereAreNone) {
  const queue::ListMessageMoveTasksResult none;
  EXPECT_EQ(json("ListMessageMoveTasks", none).body, R"({"Results":[]})");
  EXPECT_EQ(xml("ListMessageMoveTasks", none).body,
            in_xml("ListMessageMoveTasks", "<ListMessageMoveTasksResult/>"));
}

TEST(Answers, FailuresInBothProtocols) {
  const Failure missing =
      failure(queue::ErrorCode::queue_does_not_exist, "The specified queue does not exist.");
  const Answer in_json = write_failure(Protocol::json, missing, "id");
  EXPECT_EQ(in_json.status, 400U);
  EXPECT_EQ(in_json.query_error, "AWS.SimpleQueueService.NonExistentQueue;Sender");
  EXPECT_EQ(in_json.body, R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist",)"
                          R"("message":"The specified queue does not exist."})");
  EXPECT_EQ(write_failure(Protocol::query, missing, "id").body,
            "<?xml version=\"1.0\"?><ErrorResponse xmlns=\"http://queue.amazonaws.com/doc/"
            "2012-11-05/\"><Error><Type>Sender</Type>"
            "<Code>AWS.SimpleQueueService.NonExistentQueue</Code>"
            "<Message>The specified queue does not exist for this wsdl version.</Message>"
            "<Detail/></Error><RequestId>id</RequestId></ErrorResponse>");
}

TEST(JsonWriter, EscapesWhatHasToBe) {
  std::string out;
  append_json_string(out, std::string_view("\"\\\b\f\n\r\t\0\x1f/\xC3\xA9", 12));
  EXPECT_EQ(out, "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f/\xC3\xA9\"");
}

TEST(JsonWriter, FindsWhatHasToBeEscapedWhereverItStands) {
  constexpr std::size_t size = 20;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool escaped = byte < ' ' || byte == '"' || byte == '\\';
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, '\xff');
      text[at] = static_cast<char>(byte);
      std::string out;
      append_json_string(out, text);
      EXPECT_EQ(out[1 + at] == '\\', escaped) << byte << " at " << at;
      EXPECT_EQ(out.size() > size + 2, escaped) << byte << " at " << at;
    }
  }
}

TEST(XmlText, ReplacesWhatNoDocumentCanCarry) {
  std::string out;
  append_xml_text(out, std::string_view("a\0b\x08\xff\xEF\xBF\xBE]]>\t\xF0\x9F\x98\x80", 16));
  EXPECT_EQ(out,
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD]]&gt;\t\xF0\x9F\x98\x80");
}

}  // namespace
}  // namespace canopy::gateway
