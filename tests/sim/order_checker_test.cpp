#include "sim/order_checker.hpp"

#include <gtest/gtest.h>

namespace canopy::sim {
namespace {

const Id checked_group = Id::hash_of("orders");
const OrderChecker::Member ann{1, 1};
const OrderChecker::Member bob{2, 1};

wire::Multicast at(std::uint64_t epoch, std::uint64_t sequence, std::uint64_t message) {
  wire::Multicast multicast;
  multicast.group = checked_group;
  multicast.id = {Id::hash_of("publisher"), 1, message};
  multicast.epoch = epoch;
  multicast.sequence = sequence;
  return multicast;
}

class OrderCheckerTest : public testing::Test {
 protected:
  void give(const OrderChecker::Member& member, std::uint64_t epoch, std::uint64_t sequence,
            std::uint64_t message) {
    checker.delivered(member, at(epoch, sequence, message));
  }
  void tell(const OrderChecker::Member& member, std::uint64_t epoch, std::uint64_t first,
            std::uint64_t last) {
    checker.gap(member, checked_group, {epoch, first, last});
  }
  std::string finding() const {
    const Findings findings = checker.judge();
    return findings.empty() ? "" : findings.front();
  }
  bool finds(const std::string& text) const { return finding().find(text) != std::string::npos; }

  OrderChecker checker;
};

TEST_F(OrderCheckerTest, IsContentWithOneOrder) {
  for (std::uint64_t n = 1; n <= 3; ++n) {
    give(ann, 1, n, n);
    give(bob, 1, n, n);
  }
  give(ann, 2, 1, 4);
  EXPECT_EQ(finding(), "");
}

TEST_F(OrderCheckerTest, FindsWhatIsMissingWithoutAWord) {
  give(ann, 1, 1, 1);
  give(ann, 1, 2, 2);
  give(ann, 1, 3, 3);
  give(bob, 1, 1, 1);
  give(bob, 1, 3, 3);
  EXPECT_TRUE(finds("node 2 of group")) << finding();
  EXPECT_TRUE(finds("neither given nor told to miss 1/2")) << finding();
}

TEST_F(OrderCheckerTest, FindsTheEndOfAnEpochThatIsMissing) {
  give(ann, 1, 1, 1);
  give(ann, 1, 2, 2);
  give(bob, 1, 1, 1);
  give(bob, 2, 1, 3);
  EXPECT_TRUE(finds("told to miss 1/2")) << finding();
}

TEST_F(OrderCheckerTest, FindsAnotherOrdersMessagesThatArePassedOver) {
  give(ann, 1, 1, 1);
  give(bob, 1, 1, 1);
  give(ann, 2, 1, 2);
  give(bob, 3, 1, 3);
  EXPECT_TRUE(finds("node 2 of group")) << finding();
  EXPECT_TRUE(finds("neither given nor told to miss 2/1")) << finding();
}

TEST_F(OrderCheckerTest, FindsWhatOnlyThePublisherKnowsOf) {
  give(ann, 1, 1, 1);
  scribe::PublishOutcome outcome;
  outcome.id = at(2, 1, 2).id;
  outcome.epoch = 2;
  outcome.sequence = 1;
  checker.published(checked_group, outcome);
  give(ann, 3, 1, 3);
  EXPECT_TRUE(finds("neither given nor told to miss 2/1")) << finding();
}

TEST_F(OrderCheckerTest, AGapWithoutAnEndCoversOtherOrders) {
  give(ann, 1, 1, 1);
  give(bob, 1, 1, 1);
  give(ann, 2, 1, 2);
  tell(bob, 1, 2, 0);
  give(bob, 3, 1, 3);
  EXPECT_EQ(finding(), "");
}

TEST_F(OrderCheckerTest, AGapExplainsWhatIsMissing) {
  for (std::uint64_t n = 1; n <= 5; ++n) give(ann, 1, n, n);
  give(bob, 1, 1, 1);
  tell(bob, 1, 2, 3);
  give(bob, 1, 4, 4);
  tell(bob, 1, 5, 0);
  give(bob, 3, 7, 9);
  EXPECT_EQ(finding(), "");
}

TEST_F(OrderCheckerTest, AMessageThatCameBeforeNeedNotComeAgain) {
  give(ann, 1, 1, 1);
  give(bob, 1, 1, 1);
  tell(ann, 1, 2, 0);
  give(bob, 1, 2, 2);
  tell(bob, 1, 3, 0);
  give(ann, 2, 1, 2);  // sent again
  give(ann, 2, 2, 3);
  give(bob, 2, 2, 3);
  EXPECT_EQ(finding(), "");
}

TEST_F(OrderCheckerTest, FindsDisorderAndRepetition) {
  give(ann, 1, 2, 2);
  give(ann, 1, 1, 1);
  EXPECT_TRUE(finds("after a later one")) << finding();
  OrderChecker other;
  other.delivered(bob, at(1, 1, 1));
  other.delivered(bob, at(1, 2, 1));
  ASSERT_FALSE(other.judge().empty());
  EXPECT_NE(other.judge().front().find("second time"), std::string::npos);
}

TEST_F(OrderCheckerTest, WhoForgetsMayGetWhatItHasHadOnceMore) {
  give(ann, 1, 1, 1);
  give(ann, 1, 2, 2);
  checker.forgets(ann);
  give(ann, 2, 1, 1);
  EXPECT_EQ(finding(), "");
  give(ann, 2, 2, 1);
  EXPECT_TRUE(finds("for the second time")) << finding();
}

TEST_F(OrderCheckerTest, FindsTwoMessagesAtOnePosition) {
  give(ann, 1, 1, 1);
  give(bob, 1, 1, 2);
  EXPECT_TRUE(finds("two messages have the position 1/1")) << finding();
}

TEST_F(OrderCheckerTest, FindsAPublishersMessagesOutOfTheirOrder) {
  give(ann, 1, 1, 6);
  give(ann, 1, 2, 5);
  EXPECT_TRUE(finds("a publisher's messages out of order")) << finding();
}

TEST_F(OrderCheckerTest, WhatComesTooLateForItsPublishersOrderIsAGap) {
  give(ann, 1, 1, 5);
  tell(bob, 1, 1, 1);
  give(ann, 1, 2, 6);
  give(bob, 1, 2, 6);
  give(ann, 2, 2, 7);
  tell(bob, 2, 1, 1);  // 5 again
  checker.seen(at(2, 1, 5));
  give(bob, 2, 2, 7);
  EXPECT_EQ(finding(), "");
}

// While the ring was parted it had two places, and only the later one was before bob.
TEST_F(OrderCheckerTest, WhatHadAnotherPlaceBeforeAMemberBeganNeedNotComeAgain) {
  checker.seen(at(2, 2, 5));
  give(ann, 1, 1, 5);
  give(ann, 1, 2, 6);
  give(bob, 1, 2, 6);
  tell(bob, 1, 3, 0);
  give(bob, 2, 1, 7);
  give(bob, 2, 3, 8);
  EXPECT_EQ(finding(), "");
}

TEST_F(OrderCheckerTest, AnotherMembershipBeginsAnywhere) {
  for (std::uint64_t n = 1; n <= 5; ++n) give(ann, 1, n, n);
  give(bob, 1, 1, 1);
  checker.left(bob, checked_group);
  give(bob, 1, 5, 5);
  EXPECT_EQ(finding(), "");
}

}  // namespace
}  // namespace canopy::sim
