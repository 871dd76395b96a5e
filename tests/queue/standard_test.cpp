#include <gtest/gtest.h>

#include "queue/loop.hpp"

namespace canopy::queue {
namespace {

TEST(StandardQueue, GivesWhatWasSentWithItsAttributes) {
  Loop loop;
  loop.create("q");
  SendEntry entry;
  entry.body = text("hello \r\n\xc3\xa9");
  entry.attributes = {{"a", {"String", false, "x"}},
                      {"b.c", {"Binary.z", true, std::string(1, 0)}}};
  entry.trace_header = "Root=1-5759e988-bd862e3fe1be46a994272793";
  const Sent sent = loop.ask<Sent>(SendMessage{named("q"), entry});
  loop.advance(5);
  const auto messages = loop.receive("q");
  ASSERT_EQ(messages.size(), 1U);
  const Message& message = messages[0];
  EXPECT_EQ(message.message_id, sent.message_id);
  EXPECT_EQ(message.body.view(), "hello \r\n\xc3\xa9");
  EXPECT_EQ(message.body_md5, sent.body_md5);
  EXPECT_EQ(message.message_attributes, entry.attributes);
  EXPECT_EQ(message.attributes_md5, sent.attributes_md5);
  EXPECT_FALSE(sent.system_attributes_md5.empty());
  EXPECT_EQ(message.attributes.at("SenderId"), "user");
  EXPECT_EQ(message.attributes.at("ApproximateReceiveCount"), "1");
  EXPECT_EQ(message.attributes.at("SentTimestamp"), std::to_string(loop.time - 5));
  EXPECT_EQ(message.attributes.at("ApproximateFirstReceiveTimestamp"), std::to_string(loop.time));
  EXPECT_EQ(message.attributes.at("AWSTraceHeader"), *entry.trace_header);
  EXPECT_FALSE(message.attributes.contains("SequenceNumber"));
}

TEST(StandardQueue, CountsVisibleInFlightAndDelayedMessages) {
  Loop loop;
  loop.create("q");
  for (int i = 0; i < 3; ++i) loop.send("q", "m");
  loop.send("q", "late", {}, 10);
  EXPECT_EQ(loop.counts("q"), (Texts{"3", "0", "1"}));
  const auto messages = loop.receive("q", 2);
  EXPECT_EQ(loop.counts("q"), (Texts{"1", "2", "1"}));
  loop.remove("q", messages[0].receipt_handle);
  EXPECT_EQ(loop.counts("q"), (Texts{"1", "1", "1"}));
  loop.advance(10'000);
  EXPECT_EQ(loop.counts("q"), (Texts{"2", "1", "0"}));
  loop.advance(30'000);
  EXPECT_EQ(loop.counts("q"), (Texts{"3", "0", "0"}));
  loop.restart();
  EXPECT_EQ(loop.counts("q"), (Texts{"3", "0", "0"}));
}

TEST(StandardQueue, ShowsAMessageAgainWhenItsTimeoutEnds) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  ASSERT_EQ(loop.receive("q", 10, 5).size(), 1U);
  loop.advance(4'999);
  EXPECT_TRUE(loop.receive("q").empty());
  loop.advance(1);
  const auto again = loop.receive("q");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].attributes.at("ApproximateReceiveCount"), "2");
}

TEST(StandardQueue, AnOlderHandleDeletesNothingButMayChangeHowLongItIsHidden) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  const auto first = loop.receive("q", 1, 1);
  loop.advance(1'000);
  const auto second = loop.receive("q", 1, 30);
  loop.remove("q", first[0].receipt_handle);
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "1", "0"}));
  loop.ask<Done>(ChangeMessageVisibility{named("q"), first[0].receipt_handle, 0});
  EXPECT_EQ(loop.counts("q"), (Texts{"1", "0", "0"}));
  loop.remove("q", second[0].receipt_handle);
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "0", "0"}));
}

TEST(StandardQueue, AnExpiredHandleStillDeletesIfNobodyElseReceived) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  const auto first = loop.receive("q", 1, 1);
  loop.advance(2'000);
  loop.ask<Done>(ChangeMessageVisibility{named("q"), first[0].receipt_handle, 100});
  EXPECT_EQ(loop.counts("q"), (Texts{"1", "0", "0"}));
  loop.remove("q", first[0].receipt_handle);
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "0", "0"}));
}

TEST(StandardQueue, AnExtendedHandleStillDeletes) {
  for (const std::string queue : {"q", "q.fifo"}) {
    Loop loop;
    loop.create(queue, {{"VisibilityTimeout", "2"}});
    loop.send(queue, "m", queue == "q" ? std::nullopt : std::optional<std::string>("g"));
    const std::string handle = loop.receive(queue)[0].receipt_handle;
    loop.ask<Done>(ChangeMessageVisibility{named(queue), handle, 60});
    loop.advance(10'000);
    loop.remove(queue, handle);
    EXPECT_EQ(loop.counts(queue), (Texts{"0", "0", "0"})) << queue;
  }
}

TEST(StandardQueue, AHandleFromBeforeARestartDeletesOnlyIfNobodyReceivedSince) {
  Loop loop;
  loop.create("q");
  loop.send("q", "a");
  loop.send("q", "b");
  const auto before = loop.receive("q", 10, 100);
  ASSERT_EQ(before.size(), 2U);
  loop.restart();
  loop.remove("q", before[0].receipt_handle);
  EXPECT_EQ(loop.bodies("q"), (Texts{"b"}));
  loop.remove("q", before[1].receipt_handle);
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "1", "0"}));
}

TEST(StandardQueue, DeletesOnceHoweverOftenItIsAsked) {
  Loop loop;
  loop.create("q");
  loop.send("q", "a");
  loop.send("q", "b");
  const std::string handle = loop.receive("q", 1)[0].receipt_handle;
  loop.begin(DeleteMessage{named("q"), handle});
  loop.begin(DeleteMessage{named("q"), handle});
  loop.settle();
  loop.remove("q", handle);
  EXPECT_EQ(loop.counts("q"), (Texts{"1", "0", "0"}));
  EXPECT_TRUE(contains(loop.fails(ChangeMessageVisibility{named("q"), handle, 5}).message,
                       "Message does not exist or is not available for visibility timeout change"));
}

TEST(StandardQueue, AHandleFromBeforeARestartStillDeletesAfterTheLogRefusedThat) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  const std::string handle = loop.receive("q")[0].receipt_handle;
  loop.restart();
  loop.begin(DeleteMessage{named("q"), handle});
  loop.fail_pending();
  loop.remove("q", handle);
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "0", "0"}));
}

TEST(StandardQueue, NoDeletionIsAcknowledgedBeforeTheLogHasIt) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  const std::string handle = loop.receive("q")[0].receipt_handle;
  loop.begin(DeleteMessage{named("q"), handle});
  const Token second = loop.begin(DeleteMessage{named("q"), handle});
  EXPECT_FALSE(loop.take(second));
  loop.fail_pending();
  EXPECT_TRUE(loop.take(second)->has_error());
  EXPECT_EQ(loop.bodies("q"), (Texts{"m"}));
}

TEST(StandardQueue, RefusesHandlesThatAreNotItsOwn) {
  Loop loop;
  loop.create("q");
  loop.create("other");
  loop.send("other", "m");
  const std::string handle = loop.receive("other")[0].receipt_handle;
  EXPECT_EQ(loop.fails(DeleteMessage{named("q"), handle}).code,
            ErrorCode::receipt_handle_is_invalid);
  EXPECT_EQ(loop.fails(DeleteMessage{named("q"), "garbage"}).code,
            ErrorCode::receipt_handle_is_invalid);
  std::string altered = handle;
  altered[4] = altered[4] == 'A' ? 'B' : 'A';
  EXPECT_EQ(loop.fails(DeleteMessage{named("other"), altered}).code,
            ErrorCode::receipt_handle_is_invalid);
}

TEST(StandardQueue, ChangesVisibilityWithinTwelveHours) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  const std::string handle = loop.receive("q")[0].receipt_handle;
  loop.ask<Done>(ChangeMessageVisibility{named("q"), handle, 100});
  loop.advance(99'000);
  EXPECT_TRUE(loop.receive("q").empty());
  EXPECT_TRUE(contains(loop.fails(ChangeMessageVisibility{named("q"), handle, 43'200}).message,
                       "beyond the limit [43200 seconds]"));
  EXPECT_TRUE(contains(loop.fails(ChangeMessageVisibility{named("q"), handle, 43'201}).message,
                       "must be an integer between 0 and 43200"));
  loop.ask<Done>(ChangeMessageVisibility{named("q"), handle, 0});
  EXPECT_EQ(loop.receive("q").size(), 1U);
}

TEST(StandardQueue, HidesDelayedMessagesAndOverridesTheQueuesDelay) {
  Loop loop;
  loop.create("q", {{"DelaySeconds", "5"}});
  loop.send("q", "late");
  loop.send("q", "now", {}, 0);
  EXPECT_EQ(loop.bodies("q"), (Texts{"now"}));
  loop.advance(5'000);
  EXPECT_EQ(loop.bodies("q"), (Texts{"late"}));
}

TEST(StandardQueue, RefusesMoreInFlightThanItsLimit) {
  Limits limits;
  limits.in_flight_max = 3;
  Loop loop(limits);
  loop.create("q");
  for (int i = 0; i < 5; ++i) loop.send("q", "m");
  EXPECT_EQ(loop.receive("q").size(), 3U);
  EXPECT_EQ(loop.fails(Loop::receiving("q")).code, ErrorCode::over_limit);
  loop.advance(30'000);
  EXPECT_EQ(loop.receive("q").size(), 3U);
}

TEST(StandardQueue, ANoisyGroupDoesNotStarveAQuietOne) {
  Loop loop;
  loop.create("q");
  for (int i = 0; i < 500; ++i) loop.send("q", "noisy", "loud");
  loop.send("q", "quiet", "still");
  loop.send("q", "none");
  EXPECT_TRUE(has_all(loop.bodies("q", 5), {"quiet", "none"}));
  loop.restart();
  EXPECT_TRUE(has_all(loop.bodies("q", 5), {"quiet", "none"}));
}

TEST(StandardQueue, FindsEveryGroupThoughOnlyAFewAreReadAtOnce) {
  Limits limits;
  limits.lanes_max = 4;
  Loop loop(limits);
  loop.create("q");
  for (int i = 0; i < 60; ++i) loop.send("q", std::to_string(i), "g" + std::to_string(i % 20));
  for (const bool restarted : {false, true}) {
    if (restarted) loop.restart();
    std::set<std::string> seen;
    for (int i = 0; i < 60; ++i) {
      for (const auto& body : loop.bodies("q", 10, 100)) seen.insert(body);
    }
    EXPECT_EQ(seen.size(), 60U);
  }
}

TEST(StandardQueue, ReadsAheadInsteadOfScanning) {
  Loop loop;
  loop.create("q");
  for (int i = 0; i < 5'000; ++i)
    loop.begin(SendMessage{named("q"), {{}, text("m"), {}, {}, {}, {}, {}}});
  loop.settle();
  loop.restart();
  loop.store->steps = 0;
  std::size_t received = 0;
  while (received < 5'000) {
    for (const Message& message : loop.receive("q")) {
      ++received;
      loop.begin(DeleteMessage{named("q"), message.receipt_handle});
    }
    loop.settle();
  }
  EXPECT_LT(loop.store->steps, 5'200U);
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "0", "0"}));
}

TEST(StandardQueue, AReceiveWhoseAnswerWasLostIsUndone) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  const auto lost = loop.receive("q");
  loop.machine->give_back(named("q"), {lost[0].receipt_handle}, loop.now(), loop);
  loop.settle();
  const auto again = loop.receive("q");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].attributes.at("ApproximateReceiveCount"), "1");
}

TEST(StandardQueue, RemembersReceivesOfReturnedMessagesOverARestart) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  ASSERT_EQ(loop.receive("q", 1, 1).size(), 1U);
  const std::string first = std::to_string(loop.time);
  loop.advance(1'000);
  ASSERT_EQ(loop.receive("q", 1, 1).size(), 1U);
  loop.advance(1'000);
  EXPECT_EQ(loop.receive("q", 1, 0).size(), 1U);
  loop.receive("q", 1, 0);
  loop.restart();
  const auto again = loop.receive("q");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_GE(std::stoi(again[0].attributes.at("ApproximateReceiveCount")), 4);
  EXPECT_EQ(again[0].attributes.at("ApproximateFirstReceiveTimestamp"), first);
}

TEST(StandardQueue, PeekingReceivesNothing) {
  Loop loop;
  loop.create("q");
  loop.send("q", "a");
  loop.send("q", "b");
  loop.receive("q", 1);
  for (int i = 0; i < 2; ++i) {
    const auto seen = loop.ask<ReceiveMessageResult>(PeekMessage{named("q"), 10}).messages;
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].body.view(), "b");
    EXPECT_TRUE(seen[0].receipt_handle.empty());
  }
  EXPECT_EQ(loop.counts("q"), (Texts{"1", "1", "0"}));
}

TEST(StandardQueue, PeekingShowsWhatIsHiddenIfToldTo) {
  Loop loop;
  loop.create("q");
  loop.send("q", "a");
  loop.send("q", "late", {}, 10);
  loop.receive("q", 1);
  loop.send("q", "b");
  const auto peek = [&loop](bool invisible, bool delayed) {
    const PeekMessage action{named("q"), 10, invisible, delayed};
    Texts seen;
    for (auto& message : loop.ask<ReceiveMessageResult>(action).messages) {
      seen.push_back(std::string(message.body.view()) + " " + message.attributes["IsVisible"] +
                     " " + message.attributes["IsDelayed"]);
    }
    return seen;
  };
  EXPECT_EQ(peek(false, false), (Texts{"b  "}));
  EXPECT_EQ(peek(true, false), (Texts{"a false ", "b true "}));
  EXPECT_EQ(peek(false, true), (Texts{"b  false", "late  true"}));
  EXPECT_EQ(peek(true, true), (Texts{"a false false", "b true false", "late true true"}));
}

TEST(StandardQueue, PeekingShowsManyButNotTooMuch) {
  Limits limits;
  limits.peek_bytes_max = 1'000;
  Loop loop(limits);
  loop.create("q");
  for (int i = 0; i < 60; ++i) loop.send("q", std::string(10, 'x'));
  const auto peek = [&](std::int64_t max) {
    return loop.ask<ReceiveMessageResult>(PeekMessage{named("q"), max}).messages.size();
  };
  EXPECT_EQ(peek(12), 12U);
  EXPECT_GT(peek(1'000), 10U);
  EXPECT_LT(peek(1'000), 50U);
  EXPECT_EQ(loop.fails(PeekMessage{named("q"), 1'001}).code, ErrorCode::invalid_parameter_value);
}

TEST(StandardQueue, WhatTheLogRefusedDidNotHappen) {
  Loop loop;
  loop.create("q");
  loop.send("q", "m");
  const std::string handle = loop.receive("q")[0].receipt_handle;
  loop.begin(DeleteMessage{named("q"), handle});
  loop.begin(SendMessage{named("q"), {{}, text("lost"), {}, {}, {}, {}, {}}});
  loop.fail_pending();
  EXPECT_EQ(loop.bodies("q"), (Texts{"m"}));
}

}  // namespace
}  // namespace canopy::queue
