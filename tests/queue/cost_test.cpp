// What messages cost, counted in looks at the store; the times of these tests
// are a benchmark of everything else.
#include <gtest/gtest.h>

#include "queue/loop.hpp"

namespace canopy::queue {
namespace {

constexpr int message_count = 20'000;

// To a FIFO queue as many groups take turns.
void send_many(Loop& loop, int count, const std::string& queue = "q", int groups = 0) {
  for (int i = 0; i < count; ++i) {
    SendEntry entry;
    entry.body = text(std::string(100, 'x'));
    if (groups > 0) {
      entry.group_id = std::to_string(i % groups);
      entry.deduplication_id = std::to_string(i);
    }
    loop.begin(SendMessage{named(queue), std::move(entry)});
    if (i % 100 == 99) loop.apply_pending();
  }
  loop.settle();
  loop.answers.clear();
}

TEST(QueueCost, OfSendsIsNoRead) {
  Loop loop;
  loop.create("q");
  loop.store->reads = 0;
  send_many(loop, message_count);
  EXPECT_EQ(loop.store->reads, 0U);
}

TEST(QueueCost, OfSendingReceivingAndDeletingInTurnIsNoRead) {
  Loop loop;
  loop.create("q");
  loop.receive("q");
  loop.store->reads = loop.store->ranges = 0;
  for (int i = 0; i < message_count; i += 10) {
    send_many(loop, 10);
    for (const Message& message : loop.receive("q")) {
      loop.begin(DeleteMessage{named("q"), message.receipt_handle});
    }
    loop.settle();
  }
  EXPECT_EQ(loop.store->reads, 0U);
  EXPECT_LT(loop.store->ranges, 10U);
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "0", "0"}));
}

TEST(QueueCost, OfABacklogIsOneStepAMessage) {
  Loop loop;
  loop.create("q");
  send_many(loop, message_count);
  loop.store->reads = loop.store->steps = loop.store->ranges = 0;
  for (int i = 0; i < message_count; i += 10) {
    for (const Message& message : loop.receive("q")) {
      loop.begin(DeleteMessage{named("q"), message.receipt_handle});
    }
    loop.apply_pending();
  }
  EXPECT_EQ(loop.store->reads, 0U);
  EXPECT_LE(loop.store->steps, static_cast<std::uint64_t>(message_count));
  EXPECT_LT(loop.store->ranges, static_cast<std::uint64_t>(message_count / 100));
}

TEST(QueueCost, OfABacklogThatExpiresIsAFewStepsAMessage) {
  Loop loop;
  loop.create("q", {{"MessageRetentionPeriod", "60"}});
  send_many(loop, message_count);
  loop.store->steps = 0;
  loop.advance(61'000);
  EXPECT_EQ(loop.counts("q"), (Texts{"0", "0", "0"}));
  EXPECT_LE(loop.store->steps, 3U * message_count);
}

void receive_and_delete(Loop& loop, const std::string& queue, int count) {
  for (int received = 0; received < count;) {
    const auto messages = loop.receive(queue);
    ASSERT_FALSE(messages.empty());
    received += static_cast<int>(messages.size());
    for (const Message& message : messages) {
      loop.begin(DeleteMessage{named(queue), message.receipt_handle});
    }
    loop.settle();
    loop.answers.clear();
  }
}

// Neither what was deleted of a group, nor where its visibility timeouts would have ended.
TEST(QueueCost, OfAFifoBacklogIsAFewStepsAMessage) {
  Loop loop;
  loop.create("q.fifo");
  send_many(loop, message_count, "q.fifo", 50);
  loop.store->steps = loop.store->ranges = 0;
  receive_and_delete(loop, "q.fifo", message_count);
  EXPECT_LE(loop.store->steps, 3U * message_count);
  EXPECT_LE(loop.store->ranges, message_count / 5U);
}

TEST(QueueCost, OfAnEmptyFifoQueueIsNoStepAfterMuchCameAndWent) {
  Loop loop;
  loop.create("q.fifo");
  send_many(loop, message_count, "q.fifo", 50);
  receive_and_delete(loop, "q.fifo", message_count);
  loop.store->steps = 0;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(loop.receive("q.fifo").empty());
  EXPECT_EQ(loop.store->steps, 0U);
}

}  // namespace
}  // namespace canopy::queue
