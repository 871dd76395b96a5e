#include "gateway/query_request.hpp"

#include <gtest/gtest.h>

namespace canopy::gateway {
namespace {

const ReadContext query_context{{"us-east-1", "000000000000", "http://localhost:9324"}, {}, 10};
const std::string query_url = "QueueUrl=http%3A%2F%2Flocalhost%3A9324%2F000000000000%2Fq";

template <class Action>
Action read_query(std::string_view name, std::string_view form) {
  QueryTree tree;
  EXPECT_TRUE(tree.add(form));
  auto result = read_query_request(name, tree, query_context);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? std::get<Action>(*std::move(result)) : Action{};
}

Failure query_refusal(std::string_view name, std::string_view form) {
  QueryTree tree;
  EXPECT_TRUE(tree.add(form));
  auto result = read_query_request(name, tree, query_context);
  return result ? Failure{} : result.error();
}

TEST(QueryRequest, ReadsMapsOfNamesAndValues) {
  const auto create = read_query<queue::CreateQueue>(
      "CreateQueue",
      "QueueName=q&Attribute.2.Name=DelaySeconds&Attribute.2.Value=5&Attribute.1.Name=Policy&"
      "Attribute.1.Value=%7B%7D&Tag.1.Key=a+b&Tag.1.Value=");
  EXPECT_EQ(create.queue, (queue::QueueName{"us-east-1", "000000000000", "q"}));
  EXPECT_EQ(create.attributes, (queue::Attributes{{"DelaySeconds", "5"}, {"Policy", "{}"}}));
  EXPECT_EQ(create.tags, (queue::Tags{{"a b", ""}}));
}

TEST(QueryRequest, ReadsASingleEntryWithoutItsNumber) {
  const auto set = read_query<queue::SetQueueAttributes>(
      "SetQueueAttributes", query_url + "&Attribute.Name=DelaySeconds&Attribute.Value=5");
  EXPECT_EQ(set.attributes, (queue::Attributes{{"DelaySeconds", "5"}}));
  const auto get =
      read_query<queue::GetQueueAttributes>("GetQueueAttributes", query_url + "&AttributeName=All");
  EXPECT_EQ(get.names, std::vector<std::string>{"All"});
}

TEST(QueryRequest, ReadsListsInTheOrderOfTheirNumbersAndInEitherSpelling) {
  const auto flat = read_query<queue::GetQueueAttributes>(
      "GetQueueAttributes", query_url + "&AttributeName.10=c&AttributeName.2=b&AttributeName.1=a");
  EXPECT_EQ(flat.names, (std::vector<std::string>{"a", "b", "c"}));
  const auto member = read_query<queue::GetQueueAttributes>(
      "GetQueueAttributes", query_url + "&AttributeNames.member.1=a&AttributeNames.member.2=b");
  EXPECT_EQ(member.names, (std::vector<std::string>{"a", "b"}));
}

TEST(QueryRequest, PrefersTheOlderListOfSystemAttributes) {
  const auto both = read_query<queue::ReceiveMessage>(
      "ReceiveMessage",
      query_url + "&AttributeName.1=SenderId&MessageSystemAttributeName.1=SentTimestamp");
  EXPECT_EQ(both.system_attribute_names, std::vector<std::string>{"SenderId"});
  const auto newer = read_query<queue::ReceiveMessage>(
      "ReceiveMessage", query_url + "&MessageSystemAttributeName.1=SentTimestamp");
  EXPECT_EQ(newer.system_attribute_names, std::vector<std::string>{"SentTimestamp"});
}

TEST(QueryRequest, TakesAnEmptyTextForAnEmptyList) {
  EXPECT_EQ(query_refusal("UntagQueue", query_url + "&TagKeys=").message,
            "Tag keys must be between 1 and 128 characters in length.");
}

TEST(QueryRequest, ReadsBooleansInEverySpelling) {
  for (const char* yes : {"true", "True", "1"})
    EXPECT_TRUE(read_query<queue::PeekMessage>("PeekMessage", query_url + "&ShowDelayed=" + yes)
                    .show_delayed);
  for (const char* no : {"false", "False", "0"})
    EXPECT_FALSE(read_query<queue::PeekMessage>("PeekMessage", query_url + "&ShowDelayed=" + no)
                     .show_delayed);
  EXPECT_FALSE(query_refusal("PeekMessage", query_url + "&ShowDelayed=maybe").message.empty());
}

TEST(QueryRequest, ReadsMessageAttributes) {
  const auto send = read_query<queue::SendMessage>(
      "SendMessage",
      query_url +
          "&MessageBody=a%20b+c%0D&MessageAttribute.1.Name=n&MessageAttribute.1.Value.DataType="
          "Number.int&MessageAttribute.1.Value.StringValue=4&MessageAttribute.2.Name=b&"
          "MessageAttribute.2.Value.DataType=Binary&MessageAttribute.2.Value.BinaryValue=AA+/&"
          "MessageSystemAttribute.1.Name=AWSTraceHeader&"
          "MessageSystemAttribute.1.Value.DataType=String&"
          "MessageSystemAttribute.1.Value.StringValue=t");
  EXPECT_EQ(send.entry.body.view(), "a b c\r");
  EXPECT_EQ(send.entry.attributes.at("n"), (queue::MessageAttribute{"Number.int", false, "4"}));
  EXPECT_EQ(send.entry.attributes.at("b"),
            (queue::MessageAttribute{"Binary", true, std::string("\x00\x0f\xbf", 3)}));
  EXPECT_EQ(send.entry.trace_header, "t");
}

TEST(QueryRequest, ReadsTheEntriesOfABatch) {
  const auto batch = read_query<queue::SendMessageBatch>(
      "SendMessageBatch",
      query_url +
          "&SendMessageBatchRequestEntry.1.Id=a&SendMessageBatchRequestEntry.1.MessageBody=x&"
          "SendMessageBatchRequestEntry.2.Id=b&SendMessageBatchRequestEntry.2.MessageBody=y&"
          "SendMessageBatchRequestEntry.2.DelaySeconds=3");
  ASSERT_EQ(batch.entries.size(), 2U);
  EXPECT_EQ(batch.entries[1].id, "b");
  EXPECT_EQ(batch.entries[1].body.view(), "y");
  EXPECT_EQ(batch.entries[1].delay_seconds, 3);
  EXPECT_EQ(query_refusal("SendMessageBatch", query_url).info.query_code,
            "AWS.SimpleQueueService.EmptyBatchRequest");
}

TEST(QueryRequest, RestoresThePlusOfAHandle) {
  EXPECT_EQ(
      read_query<queue::DeleteMessage>("DeleteMessage", query_url + "&ReceiptHandle=a+b/c%2Bd==")
          .receipt_handle,
      "a+b/c+d==");
}

TEST(QueryRequest, ReadsPermissions) {
  const auto add = read_query<queue::AddPermission>(
      "AddPermission", query_url + "&Label=l&AWSAccountId.1=111111111111&ActionName.1=SendMessage");
  EXPECT_EQ(add.accounts, std::vector<std::string>{"111111111111"});
  EXPECT_EQ(add.actions, std::vector<std::string>{"SendMessage"});
}

TEST(QueryRequest, RefusesWhatIsNoNumber) {
  const Failure failure = query_refusal("ReceiveMessage", query_url + "&MaxNumberOfMessages=ten");
  EXPECT_EQ(failure.info.query_code, "InvalidParameterValue");
  EXPECT_EQ(failure.message,
            "Value ten for parameter MaxNumberOfMessages is invalid. Reason: Must be an integer.");
}

TEST(QueryTree, BoundsWhatItHolds) {
  QueryTree deep;
  EXPECT_FALSE(deep.add("a.b.c.d.e.f.g.h.i=1"));
  std::string many;
  for (std::size_t i = 0; i <= QueryTree::parameters_max; ++i) many += "a&";
  QueryTree wide;
  EXPECT_FALSE(wide.add(many));
}

TEST(QueryTree, KeepsShortTextsInPlace) {
  QueryTree tree;
  ASSERT_TRUE(tree.add("a=1"));
  ASSERT_TRUE(tree.add("b=2"));
  EXPECT_EQ(tree.root().child("a")->value, "1");
  EXPECT_EQ(tree.root().child("b")->value, "2");
}

}  // namespace
}  // namespace canopy::gateway
