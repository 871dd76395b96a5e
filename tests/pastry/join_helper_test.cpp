#include "pastry/join_helper.hpp"

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"

namespace canopy::pastry::test {
namespace {

using Verdict = JoinHelper::Verdict;

class JoinHelperTest : public ::testing::Test, protected Part {
 protected:
  Verdict request(PeerRef joiner, std::uint32_t nonce = 1) {
    wire::Routed message;
    message.key = state.id(joiner);
    message.body = std::make_shared<const wire::RoutedBody>(wire::JoinRequest{joiner, nonce, {}});
    return helper.request(joiner, message);
  }
  static std::uint32_t nonce(const wire::Routed& message) {
    return std::get<wire::JoinRequest>(*message.body).nonce;
  }

  JoinHelper helper{state};
  const PeerRef a = env.peer("a0");
  const PeerRef b = env.peer("b0");
  const PeerRef c = env.peer("c0");
};

TEST_F(JoinHelperTest, HelpsOneAtATimeAndKeepsTheOrderOfTheRest) {
  EXPECT_EQ(request(a), Verdict::help);
  EXPECT_EQ(request(c), Verdict::wait);
  EXPECT_EQ(request(b), Verdict::wait);
  EXPECT_FALSE(helper.finish(b));
  EXPECT_TRUE(helper.finish(a));
  const auto waiting = helper.take_waiting();
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(waiting[0].key, state.id(c));
  EXPECT_EQ(helper.waiting(), 0U);
  EXPECT_EQ(request(b), Verdict::help);
}

TEST_F(JoinHelperTest, TheOneThatIsHelpedIsAnsweredAgain) {
  request(a);
  EXPECT_EQ(request(a, 2), Verdict::help);
}

TEST_F(JoinHelperTest, ARepeatKeepsItsPlaceInTheQueue) {
  request(a);
  request(b);
  request(c);
  EXPECT_EQ(request(b, 7), Verdict::wait);
  helper.finish(a);
  const auto waiting = helper.take_waiting();
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(nonce(waiting[0]), 7U);
}

TEST_F(JoinHelperTest, AJoinerThatRestartedTakesItsOwnPlace) {
  request(a);
  const PeerRef reborn = env.peer("a0", 2);
  EXPECT_EQ(request(reborn), Verdict::help);
  EXPECT_EQ(helper.current(), reborn);
}

TEST(JoinHelper, AFullQueueDefers) {
  Config constants;
  constants.join_queue_max = 1;
  Part part{constants};
  JoinHelper small{part.state};
  wire::Routed message;
  message.body = std::make_shared<const wire::RoutedBody>(wire::JoinRequest{});
  EXPECT_EQ(small.request(part.env.peer("a0"), message), Verdict::help);
  EXPECT_EQ(small.request(part.env.peer("b0"), message), Verdict::wait);
  EXPECT_EQ(small.request(part.env.peer("c0"), message), Verdict::defer);
  EXPECT_GT(small.retry_after_ms(), 0U);
}

TEST_F(JoinHelperTest, AJoinerThatHangsIsOverdue) {
  EXPECT_EQ(helper.deadline(), never);
  request(a);
  EXPECT_FALSE(helper.overdue());
  env.time = helper.deadline();
  EXPECT_TRUE(helper.overdue());
  helper.finish(a);
  EXPECT_FALSE(helper.overdue());
}

}  // namespace
}  // namespace canopy::pastry::test
