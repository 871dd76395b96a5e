#include "scribe/state_transfers.hpp"

#include <gtest/gtest.h>

#include "scribe/cast.hpp"

namespace canopy::scribe {
namespace {

using namespace std::chrono_literals;

Id numbered_group(int i) { return Id::hash_of("group-" + std::to_string(i)); }

TEST(StateTransfers, GatherWhatGoesToOnePeerIntoOneBatch) {
  StateTransfers transfers(1s);
  transfers.enqueue(ann, Purpose::replica, numbered_group(1), start);
  transfers.enqueue(ann, Purpose::replica, numbered_group(2), start);
  transfers.enqueue(bob, Purpose::replica, numbered_group(1), start);
  const auto batches = transfers.take_due(start);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].groups.size(), 2u);
  EXPECT_EQ(batches[1].groups.size(), 1u);
  EXPECT_TRUE(transfers.take_due(start).empty());
}

TEST(StateTransfers, SendAgainUntilConfirmed) {
  StateTransfers transfers(1s);
  transfers.enqueue(ann, Purpose::handover, numbered_group(1), start);
  const auto first = transfers.take_due(start);
  EXPECT_EQ(transfers.next_deadline(), start + 1s);
  const auto second = transfers.take_due(start + 1s);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].nonce, first[0].nonce);
  EXPECT_FALSE(transfers.confirmed(ann, first[0].nonce + 1, start + 1s));
  EXPECT_FALSE(transfers.confirmed(bob, first[0].nonce, start + 1s));
  const auto confirmed = transfers.confirmed(ann, first[0].nonce, start + 1s);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->purpose, Purpose::handover);
  EXPECT_EQ(confirmed->groups, std::vector{numbered_group(1)});
  EXPECT_EQ(transfers.next_deadline(), never);
}

TEST(StateTransfers, WhatComesMeanwhileGoesWithTheNextBatch) {
  StateTransfers transfers(1s);
  transfers.enqueue(ann, Purpose::replica, numbered_group(1), start);
  const auto first = transfers.take_due(start);
  transfers.enqueue(ann, Purpose::replica, numbered_group(1), start);  // it has changed again
  transfers.enqueue(ann, Purpose::replica, numbered_group(2), start);
  EXPECT_TRUE(transfers.take_due(start).empty());
  transfers.confirmed(ann, first[0].nonce, start + 10ms);
  const auto next = transfers.take_due(start + 10ms);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].groups.size(), 2u);
}

TEST(StateTransfers, CutLargeSetsIntoBatches) {
  StateTransfers transfers(1s);
  const int count = 2 * static_cast<int>(StateTransfers::batch_max) + 1;
  for (int i = 0; i < count; ++i)
    transfers.enqueue(ann, Purpose::replica, numbered_group(i), start);
  std::size_t sent = 0;
  for (int i = 0; i < 3; ++i) {
    const auto batches = transfers.take_due(start);
    ASSERT_EQ(batches.size(), 1u);
    sent += batches[0].groups.size();
    EXPECT_TRUE(transfers.confirmed(ann, batches[0].nonce, start));
  }
  EXPECT_EQ(sent, static_cast<std::size_t>(count));
  EXPECT_TRUE(transfers.take_due(start).empty());
}

TEST(StateTransfers, GiveUpOnAPeerThatNeverConfirms) {
  StateTransfers transfers(1s);
  transfers.enqueue(ann, Purpose::replica, numbered_group(1), start);
  std::size_t attempts = 0;
  for (MonoTime now = start; now < start + 30s; now += 1s)
    attempts += transfers.take_due(now).size();
  EXPECT_EQ(attempts, StateTransfers::attempts_max);
  EXPECT_EQ(transfers.next_deadline(), never);
  EXPECT_FALSE(transfers.queued(ann, Purpose::replica, numbered_group(1)));
}

TEST(StateTransfers, CanBeTakenBack) {
  StateTransfers transfers(1s);
  transfers.enqueue(ann, Purpose::handover, numbered_group(1), start);
  transfers.enqueue(ann, Purpose::replica, numbered_group(1), start);
  EXPECT_TRUE(transfers.queued(ann, Purpose::handover, numbered_group(1)));
  transfers.cancel(ann, Purpose::handover, numbered_group(1));
  EXPECT_FALSE(transfers.queued(ann, Purpose::handover, numbered_group(1)));
  ASSERT_EQ(transfers.take_due(start).size(), 1u);
  transfers.cancel(ann);
  EXPECT_EQ(transfers.next_deadline(), never);
}

}  // namespace
}  // namespace canopy::scribe
