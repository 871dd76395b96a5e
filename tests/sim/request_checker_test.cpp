#include "sim/request_checker.hpp"

#include <gtest/gtest.h>

namespace canopy::sim {
namespace {

using namespace std::chrono_literals;

const RequestChecker::Member origin{1, 1};
const RequestChecker::Member taker{2, 1};
const RequestChecker::Member another{3, 1};
const wire::MessageId job{Id::hash_of("a"), 1, 1};

class RequestCheckerTest : public testing::Test {
 protected:
  RequestCheckerTest() { checker.sent(job, origin, MonoTime(10s)); }
  std::size_t findings() { return checker.take_findings().size(); }

  RequestChecker checker;
};

TEST_F(RequestCheckerTest, WhatGoesWellIsNoFinding) {
  checker.had(job, taker, MonoTime(5s));
  checker.said_taken(job, taker);
  checker.said_replied(job, taker);
  checker.ended(job);
  checker.judge_end();
  EXPECT_EQ(findings(), 0U);
  EXPECT_EQ(checker.taken(), 1U);
  EXPECT_EQ(checker.replies(), 1U);
}

TEST_F(RequestCheckerTest, TwoMembersMayHaveItButNoneTwice) {
  checker.had(job, taker, MonoTime(5s));
  checker.had(job, another, MonoTime(5s));
  EXPECT_EQ(findings(), 0U);
  checker.had(job, taker, MonoTime(6s));
  EXPECT_EQ(findings(), 1U);
}

TEST_F(RequestCheckerTest, WhoHasLeftAndComeBackMayGetARequestToAllOnceMore) {
  checker.had(job, taker, MonoTime(5s), 1);
  checker.had(job, taker, MonoTime(6s), 2);
  checker.said_replied(job, taker);
  EXPECT_TRUE(checker.take_findings().empty());
  checker.had(job, taker, MonoTime(6s), 2);
  EXPECT_EQ(checker.take_findings().size(), 1u);
}

TEST_F(RequestCheckerTest, WhoDidNotHaveItHasNotTakenItNorReplied) {
  checker.had(job, taker, MonoTime(5s));
  checker.said_taken(job, another);
  EXPECT_EQ(findings(), 1U);
  checker.said_replied(job, another);
  EXPECT_EQ(findings(), 1U);
}

TEST_F(RequestCheckerTest, TheSendersOwnMemberMayHaveItWithinTheCallThatSendsIt) {
  const wire::MessageId own{Id::hash_of("a"), 1, 2};
  const wire::MessageId forged{Id::hash_of("b"), 1, 1};
  checker.had(own, origin, MonoTime(5s));
  checker.had(forged, taker, MonoTime(5s));
  checker.sent(own, origin, MonoTime(10s));
  checker.ended(own);
  checker.ended(job);
  EXPECT_EQ(findings(), 0U);
  checker.judge_end();
  EXPECT_EQ(findings(), 1U);
}

TEST_F(RequestCheckerTest, LongAfterItsTimeNobodyGetsIt) {
  checker.had(job, taker, MonoTime(20s));
  EXPECT_EQ(findings(), 0U);
  checker.had(job, another, MonoTime(60s));
  EXPECT_EQ(findings(), 1U);
}

TEST_F(RequestCheckerTest, EverySenderThatLivesIsToldTheEnd) {
  checker.judge_end();
  EXPECT_EQ(findings(), 1U);
  checker.stopped(origin);
  checker.judge_end();
  EXPECT_EQ(findings(), 0U);
}

}  // namespace
}  // namespace canopy::sim
