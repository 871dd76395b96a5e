#include "gateway/front.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace canopy::gateway {
namespace {

class IdleService final : public Service {
 public:
  void call(queue::Caller, queue::Action, std::shared_ptr<Call>) override {}
  void cancelled(const std::shared_ptr<Call>&) override {}
  void give_back(queue::QueueName, std::vector<std::string>) override {}
  std::string problem() const override { return problem_text; }
  std::string problem_text;
};

class FrontTest : public testing::Test {
 protected:
  static FrontOptions anonymous() {
    FrontOptions options;
    options.access.allow_anonymous = true;
    return options;
  }

  Front::Taken take(Request request) { return front_.take(request, 0); }
  Answer answer(Request request) {
    auto taken = take(std::move(request));
    return std::holds_alternative<Answer>(taken) ? std::get<Answer>(taken) : Answer{};
  }
  Work work(Request request) {
    auto taken = take(std::move(request));
    return std::holds_alternative<Work>(taken) ? std::get<Work>(taken) : Work{};
  }

  static Request json(std::string_view target, std::string_view body, std::string_view path = "/") {
    return {"POST", path, {{"Host", "h:1"}, {"X-Amz-Target", target}}, body, false};
  }
  static Request get(std::string_view target) {
    return {"GET", target, {{"Host", "h:1"}}, "", false};
  }

  IdleService service_;
  Shared shared_{anonymous(), {}, {}, service_};
  Front front_{shared_, 1};
};

TEST_F(FrontTest, TellsTheProtocolByTheTarget) {
  const Work in_json = work(json("AmazonSQS.PurgeQueue", R"({"QueueUrl":"/000000000000/q"})"));
  EXPECT_EQ(in_json.reply.protocol, Protocol::json);
  EXPECT_EQ(std::get<queue::PurgeQueue>(in_json.action).queue.name, "q");
  const Work in_query = work(get("/000000000000/q?Action=PurgeQueue"));
  EXPECT_EQ(in_query.reply.protocol, Protocol::query);
  EXPECT_EQ(std::get<queue::PurgeQueue>(in_query.action).queue.name, "q");
}

TEST_F(FrontTest, WritesTheOutcomeInTheRequestsProtocol) {
  const Work asked = work(get("/?Action=GetQueueUrl&QueueName=q"));
  const Answer found =
      front_.finish(asked.reply, queue::GetQueueUrlResult{{"us-east-1", "000000000000", "q"}});
  EXPECT_NE(found.body.find("<QueueUrl>http://h:1/000000000000/q</QueueUrl>"), std::string::npos);
  const Answer failed =
      front_.finish(asked.reply, queue::Error{queue::ErrorCode::queue_does_not_exist, "Gone."});
  EXPECT_EQ(failed.status, 400U);
  EXPECT_NE(failed.body.find("<Message>Gone.</Message>"), std::string::npos);
  EXPECT_NE(found.request_id, failed.request_id);
}

TEST_F(FrontTest, RefusesActionsThatThereAreNot) {
  EXPECT_NE(answer(json("AmazonSQS.Dance", "{}")).body.find("UnknownOperationException"),
            std::string::npos);
  EXPECT_NE(answer(json("DynamoDB.ListQueues", "{}")).body.find("speaks Amazon SQS only"),
            std::string::npos);
  Request listing = get("/bucket?list-type=2");
  EXPECT_NE(answer(listing).body.find("<UnknownOperationException "), std::string::npos);
  listing.fields.push_back({"Authorization",
                            "AWS4-HMAC-SHA256 "
                            "Credential=A/20260101/us-east-1/s3/aws4_request"});
  EXPECT_NE(answer(listing).body.find("<Message>This endpoint speaks Amazon SQS only."),
            std::string::npos);
  EXPECT_NE(answer(get("/?Action=Dance")).body.find("The action Dance is not valid"),
            std::string::npos);
}

TEST_F(FrontTest, SaysHowItIs) {
  EXPECT_EQ(answer(get("/health")).body, R"({"status":"ok"})");
  EXPECT_EQ(answer(get("/?Action=HealthCheck")).status, 200U);
  service_.problem_text = "the disk is full";
  EXPECT_EQ(answer(get("/health")).status, 503U);
  EXPECT_EQ(answer(get("/health")).body, R"({"status":"failing","reason":"the disk is full"})");
  EXPECT_EQ(answer(get("/?Action=HealthCheck")).status, 503U);
}

TEST_F(FrontTest, CountsCallsAndFailures) {
  (void)take(get("/?Action=ListQueues"));
  (void)take(get("/?Action=ListQueues&MaxResults=0"));
  EXPECT_EQ(
      answer(json("AmazonSQS.GetAPIStats", "{}")).body,
      R"({"CallStats":{"GetAPIStats":1,"ListQueues":2},"CallFailureStats":{"ListQueues":1}})");
}

TEST_F(FrontTest, TellsWhoAsks) {
  const Answer who = answer(json("AWSSecurityTokenServiceV20110615.GetCallerIdentity", "{}"));
  EXPECT_EQ(who.body, R"({"UserId":"000000000000","Account":"000000000000",)"
                      R"("Arn":"arn:aws:iam::000000000000:root"})");
}

TEST_F(FrontTest, TakesCallsOfThoseWhoAreKnownAlready) {
  const Identity who{{"111122223333", "alice"}, "eu-west-1"};
  const auto call = [&](std::string_view action, std::string_view body) {
    return front_.take_call(action, body, who, "http://h:1");
  };
  auto taken = call("GetQueueUrl", R"({"QueueName":"q"})");
  const Work& asked = std::get<Work>(taken);
  const queue::QueueName queue{"eu-west-1", "111122223333", "q"};
  EXPECT_EQ(std::get<queue::GetQueueUrl>(asked.action).queue, queue);
  EXPECT_EQ(asked.caller.principal, "alice");
  EXPECT_EQ(front_.finish(asked.reply, queue::GetQueueUrlResult{queue}).body,
            R"({"QueueUrl":"http://h:1/111122223333/q"})");
  EXPECT_EQ(std::get<Answer>(call("Dance", "{}")).status, 404U);
  EXPECT_EQ(std::get<Answer>(call("GetQueueUrl", "{")).status, 400U);
  EXPECT_NE(std::get<Answer>(call("GetCallerIdentity", "{}")).body.find("user/alice"),
            std::string::npos);
  EXPECT_EQ(std::get<Answer>(call("GetAPIStats", "{}")).body,
            R"({"CallStats":{"GetAPIStats":1,"GetCallerIdentity":1,"GetQueueUrl":2},)"
            R"("CallFailureStats":{"GetQueueUrl":1}})");
}

TEST_F(FrontTest, PeeksForBrowsersAndForClients) {
  Request request = get("/_aws/sqs/messages/eu-west-1/111122223333/q");
  request.fields.push_back({"Accept", "application/json"});
  const Work browser = work(request);
  EXPECT_EQ(std::get<queue::PeekMessage>(browser.action).queue,
            (queue::QueueName{"eu-west-1", "111122223333", "q"}));
  queue::ReceiveMessageResult result;
  EXPECT_EQ(front_.finish(browser.reply, result)
                .body.find(R"({"ReceiveMessageResponse":{"ReceiveMessageResult":null)"),
            0U);
  result.messages.resize(2);
  EXPECT_NE(front_.finish(browser.reply, result).body.find(R"({"Message":[{"MessageId")"),
            std::string::npos);
  const Work client = work(
      json("AmazonSQS.ReceiveMessage", R"({"QueueUrl":"/000000000000/q"})", "/_aws/sqs/messages"));
  EXPECT_TRUE(std::holds_alternative<queue::PeekMessage>(client.action));
  EXPECT_EQ(front_.finish(client.reply, queue::ReceiveMessageResult{}).body, "{}");
}

TEST_F(FrontTest, PeeksAtAQueueAndDoesNothingElse) {
  const std::string path = "/_aws/sqs/messages";
  EXPECT_NE(answer(get(path)).body.find("NonExistentQueue"), std::string::npos);
  const std::string sent = path + "?Action=SendMessage&QueueUrl=q";
  const Answer refused = answer(get(sent));
  EXPECT_EQ(refused.status, 400U);
  EXPECT_NE(refused.body.find("This endpoint only accepts ReceiveMessage calls"),
            std::string::npos);
  EXPECT_EQ(answer(json("AmazonSQS.SendMessage", R"({"QueueUrl":"q"})", path)).query_error,
            "InvalidRequest;Sender");
  Request in_json = get(path);
  in_json.fields.push_back({"Accept", "application/json"});
  EXPECT_EQ(answer(in_json).body.find(R"({"ErrorResponse":{"Error":{"Code":)"), 0U);
  const std::string all = path + "?QueueUrl=q&ShowInvisible=true&ShowDelayed=true";
  const Work shown = work(get(all));
  EXPECT_TRUE(std::get<queue::PeekMessage>(shown.action).show_invisible);
  EXPECT_TRUE(std::get<queue::PeekMessage>(shown.action).show_delayed);
}

TEST_F(FrontTest, AnswersTheQueryProtocolInJsonIfAsked) {
  Request request = get("/?Action=GetQueueUrl&QueueName=q");
  request.fields.push_back({"Accept", "application/json"});
  EXPECT_EQ(work(request).reply.protocol, Protocol::query_json);
  request.target = "/?Action=Dance";
  EXPECT_EQ(answer(request).body.find(R"({"Error":{"Code":"InvalidAction")"), 0U);
}

TEST_F(FrontTest, GivesTheTraceOfARequestToItsMessages) {
  const Field trace{"X-Amzn-Trace-Id", "Root=1"};
  Request one = json("AmazonSQS.SendMessage", R"({"QueueUrl":"q","MessageBody":"m"})");
  one.fields.push_back(trace);
  EXPECT_EQ(std::get<queue::SendMessage>(work(one).action).entry.trace_of_request, "Root=1");
  Request batch =
      get("/?Action=SendMessageBatch&QueueUrl=q&SendMessageBatchRequestEntry.1.Id=a&"
          "SendMessageBatchRequestEntry.1.MessageBody=m");
  batch.fields.push_back(trace);
  const Work work_of_batch = work(batch);
  const auto& entries = std::get<queue::SendMessageBatch>(work_of_batch.action).entries;
  EXPECT_EQ(entries.at(0).trace_of_request, "Root=1");
}

TEST_F(FrontTest, TakesNewKeysFromTheNextRequestOn) {
  shared_.options.access.allow_anonymous = false;
  Front strict(shared_, 2);
  const Request request{"POST",
                        "/",
                        {{"Host", "h"},
                         {"X-Amz-Date", "19700101T000000Z"},
                         {"Authorization",
                          "AWS4-HMAC-SHA256 Credential=A/19700101/us-east-1/sqs/aws4_request,"
                          "SignedHeaders=host,Signature=00"},
                         {"X-Amz-Target", "AmazonSQS.ListQueues"}},
                        "{}",
                        false};
  EXPECT_EQ(std::get<Answer>(strict.take(request, 0)).query_error, "InvalidClientTokenId;Sender");
  Credentials credentials;
  credentials.add("A", {"secret", "000000000000", ""});
  shared_.keys.set(std::move(credentials));
  EXPECT_EQ(std::get<Answer>(strict.take(request, 0)).query_error, "SignatureDoesNotMatch;Sender");
}

}  // namespace
}  // namespace canopy::gateway
