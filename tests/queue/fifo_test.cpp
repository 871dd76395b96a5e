#include <gtest/gtest.h>

#include "queue/loop.hpp"

namespace canopy::queue {
namespace {

Action sending(const std::string& body, const std::string& group, const std::string& id) {
  SendEntry entry;
  entry.body = text(body);
  entry.group_id = group;
  entry.deduplication_id = id;
  return SendMessage{named("q.fifo"), entry};
}

TEST(FifoQueue, GivesAGroupInOrderAndBlocksItWhileInFlight) {
  Loop loop;
  loop.create("q.fifo");
  for (const char* body : {"1", "2", "3"}) loop.send("q.fifo", body, "g");
  const auto first = loop.receive("q.fifo", 2);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].body.view(), "1");
  EXPECT_EQ(first[1].body.view(), "2");
  EXPECT_LT(first[0].attributes.at("SequenceNumber"), first[1].attributes.at("SequenceNumber"));
  EXPECT_EQ(first[0].attributes.at("SequenceNumber").size(), 20U);
  loop.send("q.fifo", "4", "g");
  loop.send("q.fifo", "other", "h");
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"other"}));
  loop.remove("q.fifo", first[0].receipt_handle);
  EXPECT_TRUE(loop.bodies("q.fifo").empty());
  loop.remove("q.fifo", first[1].receipt_handle);
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"3", "4"}));
}

TEST(FifoQueue, GivesAGroupAgainFromItsFirstMessage) {
  Loop loop;
  loop.create("q.fifo");
  for (const char* body : {"1", "2", "3"}) loop.send("q.fifo", body, "g");
  ASSERT_EQ(loop.receive("q.fifo", 2, 10).size(), 2U);
  EXPECT_TRUE(loop.bodies("q.fifo").empty());
  loop.advance(10'000);
  const auto again = loop.receive("q.fifo", 10, 10);
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(again[0].body.view(), "1");
  EXPECT_EQ(again[0].attributes.at("ApproximateReceiveCount"), "2");
  EXPECT_EQ(again[2].attributes.at("ApproximateReceiveCount"), "1");
}

TEST(FifoQueue, GivesItsFirstMessageAgainThoughALaterOneIsInFlight) {
  for (const bool restarted : {false, true}) {
    Loop loop;
    loop.create("q.fifo");
    for (const char* body : {"1", "2", "3"}) loop.send("q.fifo", body, "g");
    const auto first = loop.receive("q.fifo", 2, 30);
    loop.ask<Done>(ChangeMessageVisibility{named("q.fifo"), first[0].receipt_handle, 0});
    if (restarted) loop.restart();
    const auto again = loop.receive("q.fifo", 10, 0);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].body.view(), "1");
    const auto once_more = loop.receive("q.fifo", 10, 40);
    ASSERT_EQ(once_more.size(), 1U);
    // What comes behind the second waits for it, though the first is gone.
    loop.remove("q.fifo", once_more[0].receipt_handle);
    EXPECT_TRUE(loop.bodies("q.fifo").empty());
    loop.advance(30'000);
    EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"2", "3"}));
  }
}

TEST(FifoQueue, ALaterMessageThatIsVisibleAgainWaitsForTheFirst) {
  Loop loop;
  loop.create("q.fifo");
  for (const char* body : {"1", "2"}) loop.send("q.fifo", body, "g");
  const auto first = loop.receive("q.fifo", 2, 30);
  loop.ask<Done>(ChangeMessageVisibility{named("q.fifo"), first[1].receipt_handle, 0});
  EXPECT_TRUE(loop.bodies("q.fifo").empty());
  loop.ask<Done>(ChangeMessageVisibility{named("q.fifo"), first[0].receipt_handle, 60});
  loop.advance(30'000);
  EXPECT_TRUE(loop.bodies("q.fifo").empty());
  loop.store->steps = 0;
  EXPECT_TRUE(loop.bodies("q.fifo").empty());
  EXPECT_LE(loop.store->steps, 2U);
  loop.advance(30'000);
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"1", "2"}));
}

TEST(FifoQueue, IsTheSameAfterARestart) {
  Loop loop;
  loop.create("q.fifo");
  for (const char* body : {"1", "2", "3"}) loop.send("q.fifo", body, "g");
  const auto first = loop.receive("q.fifo", 1, 60);
  loop.restart();
  EXPECT_TRUE(loop.bodies("q.fifo").empty());
  EXPECT_EQ(loop.counts("q.fifo"), (Texts{"2", "1", "0"}));
  loop.remove("q.fifo", first[0].receipt_handle);
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"2", "3"}));
}

TEST(FifoQueue, RefusesHandlesThatHaveExpired) {
  Loop loop;
  loop.create("q.fifo");
  loop.send("q.fifo", "1", "g");
  const std::string handle = loop.receive("q.fifo", 1, 1)[0].receipt_handle;
  loop.advance(1'000);
  const Error error = loop.fails(DeleteMessage{named("q.fifo"), handle});
  EXPECT_EQ(error.code, ErrorCode::invalid_parameter_value);
  EXPECT_TRUE(contains(error.message, "The receipt handle has expired"));
  EXPECT_EQ(loop.fails(ChangeMessageVisibility{named("q.fifo"), handle, 5}).code,
            ErrorCode::invalid_parameter_value);
  const std::string next = loop.receive("q.fifo")[0].receipt_handle;
  EXPECT_TRUE(contains(loop.fails(DeleteMessage{named("q.fifo"), handle}).message, "expired"));
  loop.remove("q.fifo", next);
  loop.remove("q.fifo", next);
  EXPECT_EQ(loop.counts("q.fifo"), (Texts{"0", "0", "0"}));
}

TEST(FifoQueue, ADuplicateIsTheOriginalForFiveMinutesThoughDeleted) {
  Loop loop;
  loop.create("q.fifo");
  const Sent first = loop.ask<Sent>(sending("a", "g", "id"));
  loop.remove("q.fifo", loop.receive("q.fifo")[0].receipt_handle);
  loop.advance(299'000);
  loop.restart();
  const Sent second = loop.ask<Sent>(sending("a", "g", "id"));
  EXPECT_EQ(second.message_id, first.message_id);
  EXPECT_EQ(second.sequence_number, first.sequence_number);
  EXPECT_TRUE(loop.bodies("q.fifo").empty());
  loop.advance(1'000);
  const Sent third = loop.ask<Sent>(sending("a", "g", "id"));
  EXPECT_NE(third.message_id, first.message_id);
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"a"}));
}

TEST(FifoQueue, APurgeForgetsIdsToo) {
  Loop loop;
  loop.create("q.fifo");
  const Sent first = loop.ask<Sent>(sending("a", "g", "id"));
  loop.ask<Done>(PurgeQueue{named("q.fifo")});
  const Sent second = loop.ask<Sent>(sending("b", "g", "id"));
  EXPECT_NE(second.message_id, first.message_id);
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"b"}));
}

TEST(FifoQueue, DuplicatesOnTheWayAreSeen) {
  Loop loop;
  loop.create("q.fifo");
  loop.begin(sending("a", "g", "id"));
  loop.begin(sending("b", "g", "id"));
  loop.settle();
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"a"}));
}

TEST(FifoQueue, DeduplicatesByContentAndByGroupIfToldTo) {
  Loop loop;
  loop.create("q.fifo", {{"ContentBasedDeduplication", "true"},
                         {"DeduplicationScope", "messageGroup"},
                         {"FifoThroughputLimit", "perMessageGroupId"}});
  SendEntry entry;
  entry.body = text("same");
  for (const char* group : {"a", "a", "b"}) {
    entry.group_id = group;
    loop.ask<Sent>(SendMessage{named("q.fifo"), entry});
  }
  const auto messages = loop.receive("q.fifo");
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].attributes.at("MessageDeduplicationId"),
            "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5");
}

TEST(FifoQueue, ANewScopeOfDeduplicationHoldsAfterAMinute) {
  Loop loop;
  loop.create("q.fifo");
  loop.ask<Done>(SetQueueAttributes{named("q.fifo"), {{"DeduplicationScope", "messageGroup"}}});
  loop.ask<Sent>(sending("1", "a", "same"));
  loop.ask<Sent>(sending("2", "b", "same"));
  loop.advance(59'000);
  loop.restart();
  loop.ask<Sent>(sending("3", "c", "same"));
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"1"}));
  loop.advance(1'000);
  loop.ask<Sent>(sending("4", "d", "same"));
  loop.ask<Sent>(sending("5", "e", "same"));
  loop.ask<Sent>(sending("6", "e", "same"));
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"4", "5"}));
}

TEST(FifoQueue, PeekingSkipsWhatIsBehindAMessageInFlight) {
  Loop loop;
  loop.create("q.fifo");
  for (const char* group : {"g", "h"}) {
    loop.send("q.fifo", std::string(group) + "1", group);
    loop.send("q.fifo", std::string(group) + "2", group);
  }
  EXPECT_EQ(loop.bodies("q.fifo", 1), (Texts{"g1"}));
  const auto peek = [&loop](bool invisible) {
    Texts seen;
    for (const auto& message :
         loop.ask<ReceiveMessageResult>(PeekMessage{named("q.fifo"), 10, invisible}).messages) {
      seen.emplace_back(message.body.view());
    }
    return seen;
  };
  EXPECT_EQ(peek(false), (Texts{"h1", "h2"}));
  EXPECT_EQ(peek(true), (Texts{"g1", "g2", "h1", "h2"}));
}

TEST(FifoQueue, SaysWhatASendLacks) {
  Loop loop;
  loop.create("q.fifo");
  SendEntry entry;
  entry.body = text("m");
  EXPECT_EQ(loop.fails(SendMessage{named("q.fifo"), entry}).code, ErrorCode::missing_parameter);
  entry.group_id = "g";
  EXPECT_TRUE(contains(loop.fails(SendMessage{named("q.fifo"), entry}).message,
                       "ContentBasedDeduplication enabled or MessageDeduplicationId"));
  entry.deduplication_id = "d";
  entry.delay_seconds = 1;
  EXPECT_EQ(loop.fails(SendMessage{named("q.fifo"), entry}).code,
            ErrorCode::invalid_parameter_value);
  entry.delay_seconds = 0;
  loop.ask<Sent>(SendMessage{named("q.fifo"), entry});
  entry.group_id = "with space";
  EXPECT_EQ(loop.fails(SendMessage{named("q.fifo"), entry}).code,
            ErrorCode::invalid_parameter_value);
}

TEST(FifoQueue, ADelayedMessageBlocksItsGroupOnly) {
  Loop loop;
  loop.create("q.fifo", {{"DelaySeconds", "10"}});
  loop.send("q.fifo", "a", "a");
  loop.advance(5'000);
  loop.send("q.fifo", "b", "b");
  loop.send("q.fifo", "a2", "a");
  EXPECT_TRUE(loop.bodies("q.fifo").empty());
  EXPECT_EQ(loop.counts("q.fifo"), (Texts{"0", "0", "3"}));
  loop.advance(5'000);
  const auto first = loop.receive("q.fifo");
  ASSERT_EQ(first.size(), 1U);
  loop.remove("q.fifo", first[0].receipt_handle);
  EXPECT_TRUE(loop.bodies("q.fifo").empty());
  loop.advance(5'000);
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"a2", "b"}));
}

TEST(FifoQueue, AMessageHasNoDelayOfItsOwnNotEvenNone) {
  Loop loop;
  loop.create("q.fifo", {{"DelaySeconds", "10"}});
  loop.send("q.fifo", "m", "g", 0);
  EXPECT_EQ(loop.counts("q.fifo"), (Texts{"0", "0", "1"}));
}

TEST(FifoQueue, ABatchKeepsItsOrder) {
  Loop loop;
  loop.create("q.fifo");
  SendMessageBatch batch{named("q.fifo"), {}};
  for (int i = 0; i < 10; ++i) {
    SendEntry entry;
    entry.id = "e" + std::to_string(i);
    entry.body = text(std::to_string(i));
    entry.group_id = "g";
    entry.deduplication_id = entry.id;
    batch.entries.push_back(entry);
  }
  const auto result = loop.ask<SendMessageBatchResult>(batch);
  EXPECT_EQ(result.successful.size(), 10U);
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
}

TEST(FifoQueue, RefusesABatchAsAWhole) {
  Loop loop;
  loop.create("q.fifo");
  SendEntry fine;
  fine.id = "1";
  fine.body = text("m");
  fine.group_id = "g";
  fine.deduplication_id = "d";
  SendEntry lacking = fine;
  lacking.id = "2";
  lacking.group_id.reset();
  const Error error = loop.fails(SendMessageBatch{named("q.fifo"), {fine, lacking}});
  EXPECT_EQ(error.code, ErrorCode::invalid_parameter_value);
  EXPECT_EQ(error.message, "The request must contain the parameter MessageGroupId.");
  EXPECT_EQ(loop.counts("q.fifo"), (Texts{"0", "0", "0"}));
  loop.ask<Sent>(SendMessage{named("q.fifo"), fine});
  EXPECT_EQ(loop.counts("q.fifo")[0], "1");
}

TEST(FifoQueue, TheSameAttemptGivesTheSameMessages) {
  Loop loop;
  loop.create("q.fifo");
  for (const char* body : {"1", "2"}) loop.send("q.fifo", body, "g");
  ReceiveMessage action = Loop::receiving("q.fifo");
  action.attempt_id = "attempt";
  const auto first = loop.ask<ReceiveMessageResult>(action).messages;
  const auto again = loop.ask<ReceiveMessageResult>(action).messages;
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(first[0].receipt_handle, again[0].receipt_handle);
  EXPECT_EQ(again[0].attributes.at("ApproximateReceiveCount"), "1");
  loop.remove("q.fifo", first[0].receipt_handle);
  EXPECT_TRUE(loop.ask<ReceiveMessageResult>(action).messages.empty());
}

// The retry of a receive whose answer is late.
TEST(FifoQueue, TheSameAttemptWaitsForTheOneOnItsWay) {
  Loop loop;
  loop.create("q.fifo");
  loop.send("q.fifo", "1", "g");
  loop.send("q.fifo", "2", "h");
  ReceiveMessage action = Loop::receiving("q.fifo", 1);
  action.attempt_id = "attempt";
  const Token first = loop.begin(action);
  const Token again = loop.begin(action);
  loop.settle();
  const auto messages = [&](Token token) {
    return std::get<ReceiveMessageResult>(loop.take(token).value().value()).messages;
  };
  EXPECT_EQ(messages(first).at(0).receipt_handle, messages(again).at(0).receipt_handle);
  // After one that came to nothing it is the first itself.
  action.attempt_id = "other";
  loop.begin(action);
  const Token third = loop.begin(action);
  loop.fail_pending();
  loop.settle();
  EXPECT_EQ(messages(third).at(0).body.view(), "2");
}

TEST(FifoQueue, AnAttemptIsKnownAfterARestart) {
  Loop loop;
  loop.create("q.fifo");
  for (const char* body : {"1", "2", "3"}) loop.send("q.fifo", body, "g");
  ReceiveMessage action = Loop::receiving("q.fifo");
  action.attempt_id = "attempt";
  const auto first = loop.ask<ReceiveMessageResult>(action).messages;
  loop.restart();
  const auto again = loop.ask<ReceiveMessageResult>(action).messages;
  ASSERT_EQ(again.size(), 3U);
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].body.view(), first[i].body.view());
    EXPECT_EQ(again[i].receipt_handle, first[i].receipt_handle);
  }
  // Of which one is gone: it is over, also for who has not seen it go.
  loop.remove("q.fifo", again[1].receipt_handle);
  loop.restart();
  EXPECT_TRUE(loop.ask<ReceiveMessageResult>(action).messages.empty());
}

TEST(FifoQueue, AnAttemptIdThatIsUsedAgainStandsForTheLastReceive) {
  Loop loop;
  loop.create("q.fifo");
  for (const char* body : {"1", "2"}) loop.send("q.fifo", body, "g");
  ReceiveMessage action = Loop::receiving("q.fifo");
  action.attempt_id = "attempt";
  const auto first = loop.ask<ReceiveMessageResult>(action).messages;
  ASSERT_EQ(first.size(), 2U);
  loop.remove("q.fifo", first[0].receipt_handle);
  loop.send("q.fifo", "3", "h");
  EXPECT_EQ(loop.ask<ReceiveMessageResult>(action).messages.at(0).body.view(), "3");
  for (int restarts = 0; restarts < 2; ++restarts) {
    const auto again = loop.ask<ReceiveMessageResult>(action).messages;
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].body.view(), "3");
    loop.restart();
  }
  loop.advance(31'000);
  EXPECT_EQ(loop.ask<ReceiveMessageResult>(action).messages.size(), 2U);
}

TEST(FifoQueue, ABlockedGroupAtTheHeadCostsNothing) {
  Loop loop;
  loop.create("q.fifo");
  for (int i = 0; i < 20'000; ++i) {
    loop.begin(sending("blocked", "blocked", "b" + std::to_string(i)));
  }
  loop.settle();
  ASSERT_EQ(loop.receive("q.fifo", 1, 40'000).size(), 1U);
  for (int i = 0; i < 100; ++i) {
    loop.begin(sending("m", "g" + std::to_string(i), "m" + std::to_string(i)));
  }
  loop.settle();
  loop.restart();
  loop.store->steps = 0;
  std::size_t received = 0;
  for (int i = 0; i < 20; ++i) {
    for (const Message& message : loop.receive("q.fifo")) {
      ++received;
      loop.remove("q.fifo", message.receipt_handle);
    }
  }
  EXPECT_EQ(received, 100U);
  EXPECT_LT(loop.store->steps, 1'000U);
}

TEST(FifoQueue, HasAtMostSoManyInFlightWithoutAnError) {
  Limits limits;
  limits.in_flight_fifo_max = 3;
  Loop loop(limits);
  loop.create("q.fifo");
  for (int i = 0; i < 5; ++i) loop.send("q.fifo", "m", "g" + std::to_string(i));
  EXPECT_EQ(loop.receive("q.fifo").size(), 3U);
  EXPECT_TRUE(loop.receive("q.fifo").empty());
  loop.advance(30'000);
  EXPECT_EQ(loop.receive("q.fifo").size(), 3U);
}

TEST(FifoQueue, WhatTheLogRefusedDidNotHappen) {
  Loop loop;
  loop.create("q.fifo");
  loop.send("q.fifo", "1", "g");
  loop.begin(Loop::receiving("q.fifo"));
  loop.fail_pending();
  const auto first = loop.receive("q.fifo");
  ASSERT_EQ(first.size(), 1U);
  loop.begin(DeleteMessage{named("q.fifo"), first[0].receipt_handle});
  loop.fail_pending();
  loop.remove("q.fifo", first[0].receipt_handle);
  EXPECT_EQ(loop.counts("q.fifo"), (Texts{"0", "0", "0"}));
}

TEST(FifoQueue, AReceiveWhoseAnswerWasLostIsUndone) {
  Loop loop;
  loop.create("q.fifo");
  loop.send("q.fifo", "m", "g");
  const auto lost = loop.receive("q.fifo");
  loop.machine->give_back(named("q.fifo"), {lost[0].receipt_handle}, loop.now(), loop);
  loop.settle();
  const auto again = loop.receive("q.fifo");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].attributes.at("ApproximateReceiveCount"), "1");
}

}  // namespace
}  // namespace canopy::queue
