#include "scribe/waiting_publishes.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace canopy::scribe::test {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime waiting_begun{1h};

wire::Publish numbered_publish(std::uint64_t sequence, std::uint64_t after) {
  wire::Publish publish;
  publish.id = {Id::hash_of("ann"), 1, sequence};
  publish.after = after;
  publish.body = Buffer::copy_of("x");
  return publish;
}

wire::MessageId numbered_id(std::uint64_t sequence) { return {Id::hash_of("ann"), 1, sequence}; }

TEST(WaitingPublishes, OneThatHasOvertakenWaitsForTheOneBefore) {
  WaitingPublishes waiting(10, 1000);
  EXPECT_TRUE(waiting.add_early(numbered_publish(3, 2), waiting_begun, waiting_begun));
  EXPECT_TRUE(waiting.add_early(numbered_publish(3, 2), waiting_begun, waiting_begun));
  EXPECT_FALSE(waiting.take_after(numbered_id(1), waiting_begun));
  const auto taken = waiting.take_after(numbered_id(2), waiting_begun);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->id, numbered_id(3));
  EXPECT_FALSE(waiting.take_after(numbered_id(2), waiting_begun));
}

TEST(WaitingPublishes, ThoseThatWaitInVainMakeRoom) {
  WaitingPublishes waiting(1, 1000);
  EXPECT_TRUE(waiting.add_early(numbered_publish(3, 2), waiting_begun, waiting_begun - 5s));
  EXPECT_FALSE(waiting.add_early(numbered_publish(5, 4), waiting_begun + 1s, waiting_begun - 4s));
  EXPECT_TRUE(waiting.add_early(numbered_publish(5, 4), waiting_begun + 6s, waiting_begun + 1s));
  EXPECT_FALSE(waiting.take_after(numbered_id(2), waiting_begun));
}

TEST(WaitingPublishes, ThoseForTheNextRootKeepTheirOrder) {
  WaitingPublishes waiting(2, 1000);
  EXPECT_TRUE(waiting.add(numbered_publish(1, 0), waiting_begun));
  EXPECT_TRUE(waiting.add(numbered_publish(2, 1), waiting_begun));
  EXPECT_FALSE(waiting.add(numbered_publish(3, 2), waiting_begun));
  const auto all = waiting.take_all(waiting_begun);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, numbered_id(1));
  EXPECT_TRUE(waiting.add(numbered_publish(4, 0), waiting_begun));
}

TEST(WaitingPublishes, TheTimeThatAnAskerWaitsPasses) {
  WaitingPublishes waiting(10, 1000);
  wire::Publish request = numbered_publish(3, 2);
  request.reply_within_ms = 9000;
  waiting.add(request, waiting_begun);
  waiting.add_early(request, waiting_begun + 1s, waiting_begun);
  const wire::Publish held = waiting.take_all(waiting_begun + 2s).at(0);
  EXPECT_EQ(held.reply_within_ms, 7000u);
  // It is no request any more, but published all the same.
  const auto early = waiting.take_after(numbered_id(2), waiting_begun + 10s);
  ASSERT_TRUE(early);
  EXPECT_EQ(early->reply_within_ms, 0u);
}

}  // namespace
}  // namespace canopy::scribe::test
