// The latest message of each group, as one node keeps it.
#include "scribe/last_store.hpp"

#include <string>

#include <gtest/gtest.h>

#include "scribe/loss_meter.hpp"

namespace canopy::scribe {
namespace {

class LastStoreTest : public testing::Test {
 protected:
  static Id group(int number) { return Id::hash_of("group-" + std::to_string(number)); }
  static wire::Position stamp(std::uint64_t count) { return {1, best_effort_stamp | count}; }
  static wire::Multicast message(std::uint64_t reign, std::uint64_t count,
                                 const std::string& text = "news", int in = 0) {
    wire::Multicast made;
    made.group = group(in);
    made.id = {Id::hash_of("ann"), reign, count};
    made.sequence = loss_number(Id::hash_of("root"), 1, reign, count);
    made.reign = reign;
    made.body = Buffer::copy_of(text);
    return made;
  }
  void pass(const wire::Multicast& message, MonoTime at) {
    store.passed(message, config, at, counters);
  }
  std::string text(int in = 0) const {
    const auto found = store.find(group(in));
    return found ? std::string(found->body.view()) : "";
  }

  Config config;
  Counters counters;
  LastStore store;
  MonoTime now{};
};

TEST_F(LastStoreTest, TheLatestStays) {
  EXPECT_FALSE(store.find(group(0)));
  pass(message(1, 1, "old"), now);
  pass(message(1, 2, "new"), now);
  EXPECT_EQ(text(), "new");
  pass(message(1, 1, "late"), now);
  EXPECT_EQ(text(), "new");
  pass(message(2, 1, "of the next root"), now);
  EXPECT_EQ(text(), "of the next root");
}

TEST_F(LastStoreTest, AGroupFoundedAnewHasSmallerEpochs) {
  pass(message(7, 1, "before"), now);
  pass(message(1, 1, "too early to tell"), now + config.heartbeat_interval);
  EXPECT_EQ(text(), "before");
  pass(message(1, 2, "after"), now + 20 * config.heartbeat_interval);
  EXPECT_EQ(text(), "after");
  wire::Multicast ordered = message(0, 0, "in order");
  ordered.epoch = 3ULL << 32;
  ordered.sequence = 1;
  pass(ordered, now + 20 * config.heartbeat_interval);
  pass(message(1, 3, "and not any more"), now + 20 * config.heartbeat_interval);
  EXPECT_EQ(text(), "and not any more");
}

TEST_F(LastStoreTest, OfARootThatDoesNotSayTheNextIsTheLatest) {
  pass(message(0, 7, "old"), now);
  pass(message(0, 3, "new"), now);
  EXPECT_EQ(text(), "new");
}

TEST_F(LastStoreTest, WhatIsKnownToBeOvertakenIsNotFound) {
  pass(message(1, 1), now);
  EXPECT_FALSE(store.heard_of(group(0), stamp(1)));
  EXPECT_TRUE(store.heard_of(group(0), stamp(2)));
  EXPECT_FALSE(store.find(group(0)));
  EXPECT_EQ(store.newest(group(0)), stamp(2));
  store.disbelieve(group(0));
  EXPECT_TRUE(store.find(group(0)));
}

TEST_F(LastStoreTest, OfTwoModesTheOneThatIsAskedAboutIsLater) {
  const wire::Position in_order{7ULL << 32, 9};
  EXPECT_TRUE(later(stamp(1), in_order));
  EXPECT_TRUE(later(in_order, stamp(1)));
  EXPECT_FALSE(later({}, stamp(1)));
  EXPECT_FALSE(later(stamp(1), stamp(1)));
  wire::Multicast ordered = message(0, 0, "of the order");
  ordered.epoch = in_order.epoch;
  ordered.sequence = in_order.sequence;
  pass(ordered, now);
  EXPECT_TRUE(store.heard_of(group(0), stamp(1)));
  EXPECT_FALSE(store.find(group(0))) << "the group goes on in no order";
}

TEST_F(LastStoreTest, OfOthersOnlyALaterOneIsWanted) {
  LastStore other;
  other.passed(message(1, 1, "old"), config, now, counters);
  const wire::LastReply old = *other.find(group(0));
  other.passed(message(1, 2, "new"), config, now, counters);
  pass(message(1, 1, "old"), now);
  EXPECT_FALSE(store.wants(old));
  EXPECT_TRUE(store.wants(*other.find(group(0))));
  store.heard_of(group(0), stamp(3));
  EXPECT_FALSE(store.wants(*other.find(group(0))));
}

TEST_F(LastStoreTest, TheOldestGroupGivesWay) {
  config.last_bytes_max = 7'500;
  const std::string long_text(3000, 'x');
  for (int i = 0; i < 3; ++i) pass(message(1, 1, long_text, i), now);
  EXPECT_FALSE(store.find(group(0)));
  EXPECT_TRUE(store.find(group(1)));
  EXPECT_TRUE(store.find(group(2)));
  EXPECT_EQ(counters.last_dropped, 1u);
  pass(message(1, 2, long_text, 1), now);
  pass(message(1, 1, long_text, 3), now);
  EXPECT_FALSE(store.find(group(2)));
  EXPECT_TRUE(store.find(group(1)));
}

TEST_F(LastStoreTest, ASmallBodyThatStaysLeavesItsBlock) {
  const Buffer block = Buffer::copy_of(std::string(100'000, 'x'));
  wire::Multicast small = message(1, 1);
  small.body = block.slice(10, 100);
  pass(small, now);
  EXPECT_EQ(store.find(group(0))->body.slab(), block.slab());
  EXPECT_EQ(store.settle_at(), now + config.heartbeat_interval);
  store.settle();
  EXPECT_NE(store.find(group(0))->body.slab(), block.slab());
  EXPECT_EQ(store.find(group(0))->body, block.slice(10, 100));
  EXPECT_EQ(store.settle_at(), never);
}

TEST_F(LastStoreTest, AForgottenGroupHasNone) {
  pass(message(1, 1), now);
  store.forget(group(0));
  EXPECT_FALSE(store.find(group(0)));
  EXPECT_EQ(store.newest(group(0)), wire::Position{});
}

}  // namespace
}  // namespace canopy::scribe
