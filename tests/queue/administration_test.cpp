#include <gtest/gtest.h>

#include "queue/loop.hpp"

namespace canopy::queue {
namespace {

TEST(CreateQueue, GivesTheSameQueueForEqualAttributes) {
  Loop loop;
  loop.create("q", {{"VisibilityTimeout", "40"}});
  loop.create("q", {{"VisibilityTimeout", "40"}});
  loop.create("q");
  loop.create("q", {{"DelaySeconds", "0"}});
  const Error error = loop.fails(CreateQueue{named("q"), {{"VisibilityTimeout", "41"}}, {}});
  EXPECT_EQ(error.code, ErrorCode::queue_name_exists);
  EXPECT_EQ(error.message,
            "A queue already exists with the same name and a different value for attribute "
            "VisibilityTimeout");
}

TEST(CreateQueue, TwoOnTheWayMakeOneQueue) {
  Loop loop;
  const Token first = loop.begin(CreateQueue{named("q"), {}, {}});
  const Token second = loop.begin(CreateQueue{named("q"), {{"DelaySeconds", "7"}}, {}});
  loop.settle();
  EXPECT_TRUE(loop.take(first)->has_value());
  EXPECT_EQ(loop.take(second)->error().code, ErrorCode::queue_name_exists);
}

TEST(CreateQueue, ChecksNamesAndAttributes) {
  Loop loop;
  const auto fails = [&loop](const std::string& name, Attributes attributes) {
    return loop.fails(CreateQueue{named(name), std::move(attributes), {}});
  };
  EXPECT_EQ(fails("a b", {}).message,
            "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length");
  EXPECT_EQ(fails(std::string(81, 'a'), {}).code, ErrorCode::invalid_parameter_value);
  EXPECT_EQ(fails("a.fifo", {}).code, ErrorCode::invalid_parameter_value);
  EXPECT_TRUE(contains(fails("a", {{"FifoQueue", "true"}}).message, "must end with .fifo suffix"));
  EXPECT_EQ(fails("a", {{"FifoQueue", "false"}}).message, "Unknown Attribute FifoQueue.");
  EXPECT_EQ(fails("a", {{"Nonsense", "1"}}).code, ErrorCode::invalid_attribute_name);
  EXPECT_EQ(fails("a", {{"ContentBasedDeduplication", "true"}}).code,
            ErrorCode::invalid_attribute_name);
  for (const auto& [name, value] : Attributes{{"VisibilityTimeout", "43201"},
                                              {"DelaySeconds", "-1"},
                                              {"MessageRetentionPeriod", "59"},
                                              {"ReceiveMessageWaitTimeSeconds", "21"},
                                              {"MaximumMessageSize", "1023"},
                                              {"SqsManagedSseEnabled", "yes"},
                                              {"NumberOfShards", "101"},
                                              {"Policy", "{"}}) {
    const Error error = fails("a", {{name, value}});
    EXPECT_EQ(error.code, ErrorCode::invalid_attribute_value) << name;
    EXPECT_EQ(error.message, "Invalid value for the parameter " + name + ".");
  }
  EXPECT_EQ(
      fails("a.fifo", {{"FifoQueue", "true"}, {"FifoThroughputLimit", "perMessageGroupId"}}).code,
      ErrorCode::invalid_attribute_value);
}

TEST(CreateQueue, ReadsAttributesHoweverTheyAreSpelt) {
  Loop loop;
  loop.create("dead");
  const std::string policy =
      R"({"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":)";
  loop.create("q", {{"SqsManagedSseEnabled", "False"}, {"RedrivePolicy", policy + "\"4\"}"}});
  EXPECT_EQ(loop.attribute("q", "SqsManagedSseEnabled"), "false");
  EXPECT_EQ(loop.attribute("q", "RedrivePolicy"), policy + "4}");
  loop.create("q", {{"SqsManagedSseEnabled", "FALSE"}, {"RedrivePolicy", policy + "4}"}});
}

TEST(GetQueueAttributes, HidesAPeriodOfKeysWithoutAKey) {
  Loop loop;
  const Attributes period{{"KmsDataKeyReusePeriodSeconds", "90"}};
  loop.create("q", period);
  loop.create("q", period);
  EXPECT_EQ(loop.attribute("q", "KmsDataKeyReusePeriodSeconds"), "");
  loop.ask<Done>(SetQueueAttributes{named("q"), {{"KmsMasterKeyId", "k"}}});
  EXPECT_EQ(loop.attribute("q", "KmsDataKeyReusePeriodSeconds"), "90");
}

TEST(GetQueueAttributes, ShowsDefaultsAndOnlyWhatIsAskedFor) {
  Loop loop;
  loop.create("q");
  auto all = loop.ask<GetQueueAttributesResult>(GetQueueAttributes{named("q"), {"All"}}).attributes;
  const std::string seconds = std::to_string(loop.time / 1'000);
  const Attributes expected{{"ApproximateNumberOfMessages", "0"},
                            {"ApproximateNumberOfMessagesDelayed", "0"},
                            {"ApproximateNumberOfMessagesNotVisible", "0"},
                            {"CreatedTimestamp", seconds},
                            {"DelaySeconds", "0"},
                            {"LastModifiedTimestamp", seconds},
                            {"MaximumMessageSize", "1048576"},
                            {"MessageRetentionPeriod", "345600"},
                            {"QueueArn", "arn:aws:sqs:us-east-1:000000000000:q"},
                            {"ReceiveMessageWaitTimeSeconds", "0"},
                            {"SqsManagedSseEnabled", "true"},
                            {"VisibilityTimeout", "30"}};
  EXPECT_EQ(all, expected);
  EXPECT_TRUE(
      loop.ask<GetQueueAttributesResult>(GetQueueAttributes{named("q"), {}}).attributes.empty());
  EXPECT_EQ(loop.fails(GetQueueAttributes{named("q"), {"Foo"}}).code,
            ErrorCode::invalid_attribute_name);
  loop.create("q.fifo");
  EXPECT_EQ(loop.attribute("q.fifo", "DeduplicationScope"), "queue");
  EXPECT_EQ(loop.attribute("q.fifo", "FifoThroughputLimit"), "perQueue");
}

TEST(SetQueueAttributes, ChangesAndUnsets) {
  Loop loop;
  loop.create("q");
  loop.advance(5'000);
  loop.ask<Done>(SetQueueAttributes{named("q"), {{"VisibilityTimeout", "5"}}});
  EXPECT_EQ(loop.attribute("q", "VisibilityTimeout"), "5");
  EXPECT_EQ(loop.attribute("q", "LastModifiedTimestamp"), std::to_string(loop.time / 1'000));
  loop.ask<Done>(SetQueueAttributes{named("q"), {{"KmsMasterKeyId", "alias/k"}}});
  EXPECT_EQ(loop.attribute("q", "SqsManagedSseEnabled"), "false");
  loop.restart();
  EXPECT_EQ(loop.attribute("q", "KmsMasterKeyId"), "alias/k");
  EXPECT_EQ(loop.fails(SetQueueAttributes{named("none"), {}}).code,
            ErrorCode::queue_does_not_exist);
}

TEST(SetQueueAttributes, RefusesWhatExcludesEachOther) {
  Loop loop;
  loop.create("q");
  loop.create("q.fifo");
  const auto fails = [&loop](const char* queue, Attributes attributes) {
    return loop.fails(SetQueueAttributes{named(queue), std::move(attributes)});
  };
  EXPECT_EQ(fails("q", {{"KmsMasterKeyId", "k"}, {"SqsManagedSseEnabled", "true"}}).code,
            ErrorCode::invalid_attribute_name);
  EXPECT_TRUE(contains(fails("q", {{"DeduplicationScope", "queue"}}).message,
                       "only when FifoQueue is set to true"));
  loop.ask<Done>(SetQueueAttributes{named("q.fifo"), {{"FifoQueue", "true"}}});
  EXPECT_TRUE(contains(fails("q.fifo", {{"FifoQueue", "false"}}).message,
                       "Modifying queue type is not supported"));
}

TEST(SetQueueAttributes, BoundsTheStatementsOfAPolicy) {
  Loop loop;
  loop.create("q");
  const auto set = [](int statements) {
    std::string policy = R"({"Version":"2012-10-17","Statement":[)";
    for (int i = 0; i < statements; ++i) {
      policy += (i == 0 ? "" : ",");
      policy += R"({"Effect":"Allow","Principal":"*","Action":"sqs:*"})";
    }
    return SetQueueAttributes{named("q"), {{"Policy", policy + "]}"}}};
  };
  loop.ask<Done>(set(20));
  EXPECT_EQ(loop.fails(set(21)).message, "Invalid value for the parameter Policy.");
}

TEST(DeleteQueue, TakesEverythingWithIt) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  const std::string handle = loop.receive("q", 1, 0)[0].receipt_handle;
  loop.ask<Done>(DeleteQueue{named("q")});
  EXPECT_EQ(loop.fails(GetQueueUrl{named("q")}).code, ErrorCode::queue_does_not_exist);
  loop.create("q");
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "0", "0"}));
  EXPECT_EQ(loop.fails(DeleteMessage{named("q"), handle}).code,
            ErrorCode::receipt_handle_is_invalid);
}

TEST(DeleteQueue, KeepsTheNameForAWhileIfToldTo) {
  Limits limits;
  limits.deleted_recently_ms = 60'000;
  Loop loop(limits);
  loop.create("q");
  loop.ask<Done>(DeleteQueue{named("q")});
  EXPECT_EQ(loop.fails(CreateQueue{named("q"), {}, {}}).code, ErrorCode::queue_deleted_recently);
  loop.advance(60'000);
  loop.create("q");
}

TEST(ListQueues, PagesByPrefix) {
  Loop loop;
  for (const char* name : {"a1", "a2", "a3", "b1"}) loop.create(name);
  loop.send("a2", "m");
  ListQueues action{"us-east-1", owner.account, "a", 2, {}, false};
  auto page = loop.ask<ListQueuesResult>(action);
  EXPECT_EQ(page.queues, (std::vector<QueueName>{named("a1"), named("a2")}));
  ASSERT_FALSE(page.next_token.empty());
  action.next_token = page.next_token;
  page = loop.ask<ListQueuesResult>(action);
  EXPECT_EQ(page.queues, (std::vector<QueueName>{named("a3")}));
  EXPECT_TRUE(page.next_token.empty());
  for (const char* token : {"a1", "invalid token", "YTE="}) {
    action.next_token = token;
    const Error error = loop.fails(action);
    EXPECT_EQ(error.code, ErrorCode::invalid_parameter_value);
    EXPECT_EQ(error.message, "Invalid or expired next token.");
  }
  action = {"us-east-1", owner.account, {}, {}, {}, true};
  EXPECT_EQ(loop.ask<ListQueuesResult>(action).queues, (std::vector<QueueName>{named("a2")}));
  action.region = "eu-west-1";
  EXPECT_TRUE(loop.ask<ListQueuesResult>(action).queues.empty());
}

TEST(PurgeQueue, EmptiesOnceAMinute) {
  for (const std::string queue : {"q", "q.fifo"}) {
    Loop loop;
    loop.create(queue);
    const auto send = [&](const char* body) {
      loop.send(queue, body, queue == "q" ? std::nullopt : std::optional<std::string>("g"));
    };
    for (int i = 0; i < 3; ++i) send("old");
    const auto in_flight = loop.receive(queue, 1);
    // Deleted on the way, purged before it arrives.
    loop.begin(PurgeQueue{named(queue)});
    loop.begin(DeleteMessage{named(queue), in_flight[0].receipt_handle});
    loop.settle();
    EXPECT_EQ(loop.counts(queue), (Texts{"0", "0", "0"}));
    send("new");
    EXPECT_EQ(loop.fails(PurgeQueue{named(queue)}).code, ErrorCode::purge_queue_in_progress);
    EXPECT_EQ(loop.bodies(queue, 10, 0), (Texts{"new"}));
    loop.restart();
    EXPECT_EQ(loop.bodies(queue, 10, 0), (Texts{"new"}));
    loop.advance(60'000);
    loop.ask<Done>(PurgeQueue{named(queue)});
    EXPECT_EQ(loop.counts(queue), (Texts{"0", "0", "0"}));
  }
}

TEST(Retention, EndsMessagesThoughNobodyReceives) {
  for (const std::string queue : {"q", "q.fifo"}) {
    Loop loop;
    loop.create(queue, {{"MessageRetentionPeriod", "60"}});
    const auto group = queue == "q" ? std::nullopt : std::optional<std::string>("g");
    for (int i = 0; i < 3; ++i) loop.send(queue, "m", group);
    loop.advance(30'000);
    loop.send(queue, "young", group);
    loop.advance(29'000);
    EXPECT_EQ(loop.counts(queue)[0], "4");
    loop.restart();
    for (int i = 0; i < 10; ++i) loop.advance(500);
    EXPECT_EQ(loop.counts(queue)[0], "1") << queue;
    EXPECT_EQ(loop.bodies(queue), (Texts{"young"}));
    for (int i = 0; i < 40; ++i) loop.advance(1'000);
    EXPECT_EQ(loop.counts(queue), (Texts{"0", "0", "0"})) << queue;
  }
}

TEST(Retention, NeverGivesWhatIsTooOld) {
  Loop loop;
  loop.create("q", {{"MessageRetentionPeriod", "60"}});
  loop.send("q", "m");
  loop.time += 60'000;
  EXPECT_TRUE(loop.receive("q").empty());
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "0", "0"}));
}

TEST(Tags, AreSetListedAndRemoved) {
  Loop loop;
  loop.ask<CreateQueueResult>(CreateQueue{named("q"), {}, {{"a", "1"}}});
  loop.ask<Done>(TagQueue{named("q"), {{"b", "2"}, {"a", "3"}}});
  loop.ask<Done>(UntagQueue{named("q"), {"b", "none"}});
  EXPECT_EQ(loop.ask<ListQueueTagsResult>(ListQueueTags{named("q")}).tags, (Tags{{"a", "3"}}));
  Tags many;
  for (int i = 0; i < 50; ++i) many["t" + std::to_string(i)] = "";
  EXPECT_EQ(loop.fails(TagQueue{named("q"), many}).message, "Too many tags added for queue q.");
}

TEST(Permissions, LetOthersInUntilRemoved) {
  Loop loop;
  loop.create("q");
  const Caller other{"111111111111", "someone"};
  const Action peek = GetQueueUrl{named("q")};
  EXPECT_EQ(loop.fails(peek, other).code, ErrorCode::access_denied);
  loop.ask<Done>(AddPermission{named("q"), "label", {"111111111111"}, {"GetQueueUrl"}});
  loop.ask<GetQueueUrlResult>(peek, other);
  EXPECT_EQ(loop.fails(ListQueueTags{named("q")}, other).code, ErrorCode::access_denied);
  EXPECT_TRUE(
      contains(loop.fails(AddPermission{named("q"), "label", {"111111111111"}, {"*"}}).message,
               "Already exists"));
  EXPECT_EQ(loop.fails(AddPermission{named("q"), "x", {"111111111111"}, {"DeleteQueue"}}).message,
            "Value SQS:DeleteQueue for parameter ActionName is invalid. Reason: Only the queue "
            "owner is allowed to invoke this action.");
  loop.ask<Done>(RemovePermission{named("q"), "label"});
  EXPECT_EQ(loop.fails(peek, other).code, ErrorCode::access_denied);
  EXPECT_TRUE(
      contains(loop.fails(RemovePermission{named("q"), "label"}).message, "can't find label"));
}

TEST(Batches, FailEntryByEntry) {
  Loop loop;
  loop.create("q", {{"MaximumMessageSize", "1024"}});
  SendMessageBatch batch{named("q"), {}};
  for (const char* id : {"a", "b", "c"}) {
    SendEntry entry;
    entry.id = id;
    entry.body = text(*id == 'b' ? std::string(1'025, 'x') : "m");
    if (*id == 'c') entry.delay_seconds = 901;
    batch.entries.push_back(entry);
  }
  const auto result = loop.ask<SendMessageBatchResult>(batch);
  ASSERT_EQ(result.successful.size(), 1U);
  EXPECT_EQ(result.successful[0].id, "a");
  ASSERT_EQ(result.failed.size(), 2U);
  EXPECT_TRUE(contains(result.failed[0].error.message, "Message must be shorter than 1024 bytes"));
  const auto handle = loop.receive("q")[0].receipt_handle;
  const auto deleted = loop.ask<BatchResult>(
      DeleteMessageBatch{named("q"), {{"x", handle}, {"y", handle}, {"z", "garbage"}}});
  EXPECT_EQ(deleted.successful.size(), 2U);
  ASSERT_EQ(deleted.failed.size(), 1U);
  EXPECT_EQ(deleted.failed[0].id, "z");
  const auto changed = loop.ask<BatchResult>(
      ChangeMessageVisibilityBatch{named("q"), {{"x", "", 1}, {"y", handle, std::nullopt}}});
  EXPECT_EQ(changed.failed.at(0).error, missing_parameter("ReceiptHandle"));
  EXPECT_EQ(changed.failed.at(1).error,
            missing_parameter("ChangeMessageVisibilityBatchRequestEntry.2.VisibilityTimeout"));
  EXPECT_EQ(loop.fails(DeleteMessageBatch{named("q"), {{"x", handle}, {"x", handle}}}).code,
            ErrorCode::batch_entry_ids_not_distinct);
}

TEST(Machine, ForgetsIdleQueuesAndFindsThemAgain) {
  Limits limits;
  limits.queues_loaded_max = 10;
  Loop loop(limits);
  for (int i = 0; i < 300; ++i) loop.create("q" + std::to_string(i));
  EXPECT_LE(loop.machine->statistics().queues_loaded, 11U);
  loop.send("q7", "m");
  for (int i = 100; i < 200; ++i) loop.attribute("q" + std::to_string(i), "DelaySeconds");
  EXPECT_EQ(loop.bodies("q7"), (Texts{"m"}));
}

TEST(Machine, TakesACommandOnce) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  store::Batch batch;
  loop.machine->apply(decode_command(loop.log.back()).value(), loop.log.size() + 1, batch);
  loop.machine->finish(batch);
  loop.store->apply(batch, loop.log.size());
  EXPECT_EQ(loop.machine->statistics().retries, 1U);
  EXPECT_EQ(loop.counts("q"), (Texts{"1", "0", "0"}));
}

}  // namespace
}  // namespace canopy::queue
