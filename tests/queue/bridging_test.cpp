// Bridges of the machine: what becomes of multicasts, and what is remembered.
#include <algorithm>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "queue/loop.hpp"
#include "queue/multicast_window.hpp"
#include "support/seeds.hpp"

namespace canopy::queue {
namespace {

const BridgedGroup prices{"prices", "canopy"};
const Id alpha = Id::hash_of("alpha");
const Id beta = Id::hash_of("beta");

BridgeName bridge(const std::string& queue, const BridgedGroup& group = prices) {
  return {named(queue), group};
}

Multicast multicast(std::uint64_t sequence, std::string_view body = "m",
                    const Id& publisher = alpha, std::uint64_t incarnation = 1) {
  return {{publisher, incarnation, sequence}, {}, text(body)};
}

std::uint64_t to_number(const std::string& text) { return std::stoull(text); }

class BridgingTest : public testing::Test {
 protected:
  static Limits limits() {
    Limits limits;
    limits.bridges_max = 3;
    limits.bridge_publishers_max = 4;
    return limits;
  }

  void add(const std::string& queue) {
    loop.create(queue);
    loop.ask<Bridge>(AddBridge{bridge(queue)});
  }
  Action sending(const std::string& queue, std::vector<Multicast> multicasts,
                 std::uint64_t lost = 0) {
    return SendMulticasts{bridge(queue), "prices", std::move(multicasts), lost};
  }
  BridgeCounts send(const std::string& queue, std::vector<Multicast> multicasts) {
    return loop.ask<Bridge>(sending(queue, std::move(multicasts))).counts;
  }
  std::vector<Bridge> list() { return loop.ask<ListBridgesResult>(ListBridges{}).bridges; }
  // Of a table of the store.
  std::ptrdiff_t entries(char table) const {
    return std::ranges::count_if(loop.store->entries,
                                 [table](const auto& entry) { return entry.first[0] == table; });
  }
  // The one message of the queue.
  Message only(const std::string& queue) {
    auto messages = loop.receive(queue);
    EXPECT_EQ(messages.size(), 1U);
    return messages.at(0);
  }

  Loop loop{limits()};
};

TEST_F(BridgingTest, AreListedUntilTheyAreRemovedOrTheirQueueIsDeleted) {
  EXPECT_EQ(loop.fails(AddBridge{bridge("a")}).code, ErrorCode::queue_does_not_exist);
  add("a");
  add("b");
  loop.ask<Bridge>(AddBridge{bridge("a", {"other", "canopy"})});
  loop.restart();
  ASSERT_EQ(list().size(), 3U);
  EXPECT_EQ(list()[0].name, bridge("a", {"other", "canopy"}));
  EXPECT_EQ(list()[1].name, bridge("a"));
  EXPECT_EQ(list()[2].name, bridge("b"));
  loop.ask<Done>(RemoveBridge{bridge("a")});
  EXPECT_EQ(loop.fails(RemoveBridge{bridge("a")}).code, ErrorCode::resource_not_found);
  EXPECT_EQ(loop.fails(sending("a", {multicast(1)})).code, ErrorCode::resource_not_found);
  loop.ask<Done>(DeleteQueue{named("a")});
  ASSERT_EQ(list().size(), 1U);
  EXPECT_EQ(list()[0].name, bridge("b"));
  EXPECT_EQ(loop.fails(sending("a", {multicast(1)})).code, ErrorCode::queue_does_not_exist);
  // A queue of the same name is another one.
  loop.create("a");
  loop.restart();
  EXPECT_EQ(list().size(), 1U);
}

TEST_F(BridgingTest, AddedAgainStaysAsItIs) {
  add("q");
  send("q", {multicast(1)});
  EXPECT_EQ(loop.ask<Bridge>(AddBridge{bridge("q")}).counts.sent, 1U);
  // Both on their way.
  loop.create("r");
  const Token first = loop.begin(AddBridge{bridge("r")});
  const Token second = loop.begin(AddBridge{bridge("r")});
  loop.settle();
  EXPECT_TRUE(loop.take(first)->has_value());
  EXPECT_TRUE(loop.take(second)->has_value());
  EXPECT_EQ(list().size(), 2U);
}

TEST_F(BridgingTest, AreBoundedInNumber) {
  loop.create("q");
  for (const char* name : {"a", "b", "c"}) loop.begin(AddBridge{bridge("q", {name, "canopy"})});
  const Error error = loop.fails(AddBridge{bridge("q", {"d", "canopy"})});
  EXPECT_EQ(error.code, ErrorCode::over_limit);
  EXPECT_EQ(error.message, "There are 3 bridges, as many as there may be.");
  EXPECT_EQ(list().size(), 3U);
  loop.ask<Done>(RemoveBridge{bridge("q", {"b", "canopy"})});
  loop.ask<Bridge>(AddBridge{bridge("q", {"d", "canopy"})});
}

TEST_F(BridgingTest, AMulticastBecomesAMessageThatSaysWhereItCameFrom) {
  add("q");
  Multicast one = multicast(7, "hello", alpha, 3);
  one.headers = {{"trace", "abc"}};
  EXPECT_EQ(send("q", {one}).sent, 1U);
  const Message message = only("q");
  EXPECT_EQ(message.body.view(), "hello");
  EXPECT_EQ(message.message_attributes,
            (MessageAttributes{{"canopy.group", {"String", false, "prices"}},
                               {"canopy.publisher", {"String", false, alpha.to_hex()}},
                               {"canopy.incarnation", {"Number", false, "3"}},
                               {"canopy.sequence", {"Number", false, "7"}},
                               {"trace", {"String", false, "abc"}}}));
  EXPECT_FALSE(message.attributes.contains("MessageGroupId"));
}

TEST_F(BridgingTest, ABodyThatIsNoTextComesInBase64) {
  add("q");
  const std::string bytes("\0\xff\x01 bytes", 9);
  EXPECT_EQ(send("q", {multicast(1, bytes)}).encoded, 1U);
  const Message message = only("q");
  EXPECT_EQ(from_base64(message.body.view()), bytes);
  EXPECT_EQ(message.message_attributes.at("canopy.encoding"),
            (MessageAttribute{"String", false, "base64"}));
}

TEST_F(BridgingTest, HeadersThatCannotBeAttributesAreLeftOutAndCounted) {
  add("q");
  Multicast one = multicast(1);
  one.headers = {{"a b", "no name"},   {"empty", ""},      {"canopy.group", "x"},
                 {"AWS.trace", "x"},   {"twice", "first"}, {"twice", "second"},
                 {"bytes", {"\0", 1}}, {"1", "x"},         {"2", "x"},
                 {"3", "x"},           {"4", "x"},         {"too-many", "x"}};
  EXPECT_EQ(send("q", {one}).headers_left_out, 6U);
  const MessageAttributes attributes = only("q").message_attributes;
  EXPECT_EQ(attributes.size(), 10U);
  EXPECT_EQ(attributes.at("twice").value, "first");
  EXPECT_EQ(attributes.at("bytes"), (MessageAttribute{"Binary", true, std::string("\0", 1)}));
  EXPECT_EQ(attributes.at("canopy.group").value, "prices");
}

TEST_F(BridgingTest, WhatTheQueueDoesNotTakeIsCounted) {
  loop.create("q", {{"MaximumMessageSize", "1024"}});
  loop.ask<Bridge>(AddBridge{bridge("q")});
  const BridgeCounts counts =
      send("q", {multicast(1, std::string(1'025, 'x')), multicast(2, ""), multicast(3, "fits")});
  EXPECT_EQ(counts.refused, 2U);
  EXPECT_EQ(counts.sent, 1U);
  EXPECT_EQ(loop.bodies("q"), (Texts{"fits"}));
  // Nothing was remembered of it.
  EXPECT_EQ(send("q", {multicast(2, "now")}).sent, 2U);
}

TEST_F(BridgingTest, AMulticastComesOnceHoweverOftenItIsSent) {
  add("q");
  send("q", {multicast(1, "a"), multicast(1, "a"), multicast(2, "b")});
  const Token one = loop.begin(sending("q", {multicast(3, "c")}));
  const Token two = loop.begin(sending("q", {multicast(3, "c")}));
  loop.settle();
  EXPECT_EQ(std::get<Bridge>(loop.take(one)->value()).counts.sent, 3U);
  EXPECT_EQ(std::get<Bridge>(loop.take(two)->value()).counts.duplicates, 2U);
  loop.advance(24 * 3'600 * 1'000);
  loop.restart();
  const BridgeCounts counts = send("q", {multicast(1, "a"), multicast(4, "d")});
  EXPECT_EQ(counts.sent, 4U);
  EXPECT_EQ(counts.duplicates, 3U);
  EXPECT_EQ(loop.bodies("q"), (Texts{"a", "b", "c", "d"}));
}

TEST_F(BridgingTest, PublishersAndTheirBootsCountForThemselves) {
  add("q");
  const BridgeCounts counts = send(
      "q", {multicast(1, "a", alpha, 1), multicast(1, "b", beta, 1), multicast(1, "c", alpha, 2)});
  EXPECT_EQ(counts.sent, 3U);
  EXPECT_EQ(counts.unseen, 0U);
}

TEST_F(BridgingTest, ARefusedCommandCanBeSentAgain) {
  add("q");
  const Token token = loop.begin(sending("q", {multicast(1, "a")}, 5));
  loop.fail_pending();
  EXPECT_TRUE(loop.take(token)->has_error());
  const BridgeCounts counts = loop.ask<Bridge>(sending("q", {multicast(1, "a")}, 5)).counts;
  EXPECT_EQ(counts.sent, 1U);
  EXPECT_EQ(counts.lost, 5U);
}

TEST_F(BridgingTest, NumbersThatDidNotComeAreCountedUntilTheyDo) {
  add("q");
  EXPECT_EQ(send("q", {multicast(10), multicast(13)}).unseen, 2U);
  loop.restart();
  EXPECT_EQ(send("q", {multicast(15)}).unseen, 3U);
  EXPECT_EQ(send("q", {multicast(11), multicast(14)}).unseen, 1U);
}

TEST_F(BridgingTest, WhatIsTooOldToTellIsNotSent) {
  add("q");
  std::vector<Multicast> many;
  for (std::uint64_t i = 0; i <= MulticastWindow::runs_max; ++i)
    many.push_back(multicast(1 + 2 * i));
  EXPECT_EQ(send("q", many).sent, many.size());
  const BridgeCounts counts = send("q", {multicast(1)});
  EXPECT_EQ(counts.late, 1U);
  EXPECT_EQ(counts.sent, many.size());
}

// Four publishers fill a generation, and a third one forgets the first.
TEST_F(BridgingTest, ForgetsPublishersThatWereSilentForLong) {
  add("q");
  send("q", {multicast(1, "m", alpha), multicast(1, "m", beta)});
  const auto others = [&](std::uint64_t boot) {
    for (std::uint64_t i = 0; i < 4; ++i) send("q", {multicast(1, "m", beta, boot + i)});
  };
  others(10);
  EXPECT_EQ(send("q", {multicast(1, "m", alpha)}).duplicates, 1U);
  others(20);
  loop.restart();
  EXPECT_EQ(send("q", {multicast(1, "m", alpha)}).duplicates, 2U);
  others(30);
  others(40);
  others(50);
  EXPECT_EQ(send("q", {multicast(1, "m", alpha)}).duplicates, 2U);
  EXPECT_LE(entries('v'), 8);
}

TEST_F(BridgingTest, LiesInTheStoreAsEver) {
  add("q");
  send("q", {multicast(1), multicast(2), multicast(2), multicast(5)});
  const auto only = [&](char table) {
    const auto found = std::ranges::find_if(
        loop.store->entries, [table](const auto& entry) { return entry.first[0] == table; });
    return to_hex(found->first) + " " + to_hex(found->second);
  };
  EXPECT_EQ(only('b'), "620000000000000001067072696365730663616e6f7079 0100010301000200000000");
  EXPECT_EQ(only('v'),
            "760000000000000001067072696365730663616e6f70790000000000000000"
            "be76331b95dfc399cd776d2fc68021e0db03cc4f0000000000000001 010001030201010300");
}

TEST_F(BridgingTest, LeavesNothingInTheStore) {
  add("q");
  add("r");
  send("q", {multicast(1)});
  send("r", {multicast(1)});
  loop.ask<Done>(RemoveBridge{bridge("q")});
  loop.ask<Done>(DeleteQueue{named("r")});
  EXPECT_EQ(entries('b'), 0);
  EXPECT_EQ(entries('v'), 0);
}

TEST_F(BridgingTest, AFifoQueueKeepsThePublishersOrder) {
  add("q.fifo");
  send("q.fifo", {multicast(1, "a1", alpha), multicast(1, "b1", beta), multicast(2, "a2", alpha)});
  const auto messages = loop.receive("q.fifo", 1);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].attributes.at("MessageGroupId"), alpha.to_hex());
  EXPECT_EQ(messages[0].attributes.at("MessageDeduplicationId"), alpha.to_hex() + "-1-1");
  // The other publisher's is not blocked.
  EXPECT_EQ(loop.bodies("q.fifo"), (Texts{"b1"}));
}

TEST_F(BridgingTest, TheLongestIdsFit) {
  add("q.fifo");
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(send("q.fifo", {multicast(most, "m", alpha, most)}).sent, 1U);
}

// What the store had before, with the rest in the log, is the same again.
TEST_F(BridgingTest, AReplayedLogLeadsToTheSame) {
  add("q");
  send("q", {multicast(1), multicast(3)});
  const TestStore snapshot = *loop.store;
  send("q", {multicast(3), multicast(4), multicast(6)});
  loop.ask<Bridge>(AddBridge{bridge("q", {"other", "canopy"})});
  const auto before = list();
  loop.restart(&snapshot);
  const auto after = list();
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].name, before[i].name);
    EXPECT_EQ(after[i].counts, before[i].counts);
  }
  EXPECT_EQ(loop.attribute("q", "ApproximateNumberOfMessages"), "4");
}

// Whatever is sent again, refused, lost from the log or replayed.
TEST_F(BridgingTest, RandomHistoriesMakeNoMulticastTwoMessages) {
  for (std::uint64_t seed = 1; seed <= seeds_or(20); ++seed) {
    Random random(seed);
    Loop one(limits());
    one.create("q");
    one.ask<Bridge>(AddBridge{bridge("q")});
    TestStore snapshot = *one.store;
    std::uint64_t last = 0;
    for (int step = 0; step < 200; ++step) {
      std::vector<Multicast> some;
      for (std::uint64_t left = random.next() % 5; left > 0; --left) {
        last += random.next() % 3;
        const std::uint64_t back = random.next() % 8;
        const std::uint64_t sequence = std::max<std::uint64_t>(last - std::min(last, back), 1);
        some.push_back(multicast(sequence, std::to_string(sequence)));
      }
      one.begin(sending("q", std::move(some)));
      switch (random.next() % 8) {
        case 0: one.fail_pending(); break;
        case 1: one.restart(); break;
        case 2: one.restart(&snapshot); break;
        case 3: snapshot = *one.store; break;
        case 4: break;  // the next ones come to it
        default: one.settle();
      }
    }
    one.settle();
    std::set<std::string> bodies;
    std::size_t messages = 0;
    for (Texts some = one.bodies("q"); !some.empty(); some = one.bodies("q")) {
      messages += some.size();
      bodies.insert(some.begin(), some.end());
    }
    EXPECT_EQ(bodies.size(), messages) << "seed " << seed;
    const auto listed = one.ask<ListBridgesResult>(ListBridges{}).bridges;
    EXPECT_EQ(listed.at(0).counts.sent, messages) << "seed " << seed;
    const std::uint64_t lowest = std::stoull(*std::ranges::min_element(bodies, {}, to_number));
    const std::uint64_t highest = std::stoull(*std::ranges::max_element(bodies, {}, to_number));
    EXPECT_EQ(listed.at(0).counts.unseen, highest - lowest + 1 - messages) << "seed " << seed;
  }
}

}  // namespace
}  // namespace canopy::queue
