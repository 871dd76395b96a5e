// What messages cost, counted in looks at the store; the times of these tests
// are a benchmark of everything else.
#include <gtest/gtest.h>

#include "queue/loop.hpp"

namespace canopy::queue {
namespace {

constexpr int message_count = 20'000;

void send_many(Loop& loop, int count) {
  for (int i = 0; i < count; ++i) {
    SendEntry entry;
    entry.body = text(std::string(100, 'x'));
    loop.begin(SendMessage{named("q"), std::move(entry)});
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

}  // namespace
}  // namespace canopy::queue
