#include <gtest/gtest.h>

#include "queue/loop.hpp"

namespace canopy::queue {
namespace {

std::size_t messages_of(std::optional<Outcome> outcome) {
  return std::get<ReceiveMessageResult>(std::move(outcome->value())).messages.size();
}

class LongPoll : public testing::TestWithParam<const char*> {
 protected:
  LongPoll() { loop.create(queue()); }
  std::string queue() const { return GetParam(); }
  std::optional<std::string> group() const {
    return queue().ends_with(".fifo") ? std::optional<std::string>("g") : std::nullopt;
  }
  Token wait(std::int64_t seconds = 20) {
    const Token token = loop.begin(Loop::receiving(queue(), 10, {}, seconds));
    loop.settle();
    return token;
  }

  Loop loop;
};

TEST_P(LongPoll, EndsEmptyWhenItsTimeIsUp) {
  const Token token = wait(5);
  loop.advance(4'999);
  EXPECT_FALSE(loop.take(token));
  loop.advance(1);
  EXPECT_EQ(messages_of(loop.take(token)), 0U);
}

TEST_P(LongPoll, WakesByASend) {
  const Token token = wait();
  EXPECT_FALSE(loop.take(token));
  loop.send(queue(), "m", group());
  EXPECT_EQ(messages_of(loop.take(token)), 1U);
}

TEST_P(LongPoll, WakesWhenADelayEnds) {
  loop.ask<Done>(SetQueueAttributes{named(queue()), {{"DelaySeconds", "3"}}});
  const Token token = wait();
  loop.send(queue(), "m", group());
  loop.advance(2'999);
  EXPECT_FALSE(loop.take(token));
  loop.advance(1);
  EXPECT_EQ(messages_of(loop.take(token)), 1U);
}

TEST_P(LongPoll, WakesWhenAVisibilityTimeoutEnds) {
  loop.send(queue(), "m", group());
  ASSERT_EQ(loop.receive(queue(), 1, 4).size(), 1U);
  const Token token = wait();
  loop.advance(3'999);
  EXPECT_FALSE(loop.take(token));
  loop.advance(1);
  EXPECT_EQ(messages_of(loop.take(token)), 1U);
}

TEST_P(LongPoll, WakesByAChangeOfVisibility) {
  loop.send(queue(), "m", group());
  const auto first = loop.receive(queue());
  const Token token = wait();
  loop.ask<Done>(ChangeMessageVisibility{named(queue()), first[0].receipt_handle, 0});
  EXPECT_EQ(messages_of(loop.take(token)), 1U);
}

TEST_P(LongPoll, WakesWhenAGroupIsFreeAgain) {
  loop.send(queue(), "1", group());
  const auto first = loop.receive(queue());
  const Token token = wait();
  loop.send(queue(), "2", group());
  loop.remove(queue(), first[0].receipt_handle);
  EXPECT_EQ(messages_of(loop.take(token)), 1U);
}

TEST_P(LongPoll, GivesNothingToAClientThatIsGone) {
  const Token gone = wait();
  const Token cancelled = wait();
  const Token there = wait();
  loop.absent.insert(gone);
  loop.machine->cancel(cancelled);
  loop.send(queue(), "m", group());
  EXPECT_FALSE(loop.take(gone));
  EXPECT_FALSE(loop.take(cancelled));
  EXPECT_EQ(messages_of(loop.take(there)), 1U);
}

TEST_P(LongPoll, ServesWhoCameFirst) {
  const Token first = wait();
  const Token second = wait();
  loop.send(queue(), "m", group());
  EXPECT_TRUE(loop.take(first));
  EXPECT_FALSE(loop.take(second));
}

TEST_P(LongPoll, EndsWithAnErrorWhenTheQueueIsDeleted) {
  const Token token = wait();
  loop.ask<Done>(DeleteQueue{named(queue())});
  const auto outcome = loop.take(token);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().code, ErrorCode::queue_does_not_exist);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LongPoll, testing::Values("q", "q.fifo"), [](const auto& kind) {
  return std::string(kind.param) == "q" ? "Standard" : "Fifo";
});

TEST(LongPolls, AreBounded) {
  Limits limits;
  limits.waiters_max = 2;
  Loop loop(limits);
  loop.create("q", {{"ReceiveMessageWaitTimeSeconds", "20"}});
  for (int i = 0; i < 3; ++i) {
    ReceiveMessage action;
    action.queue = named("q");
    const Token token = loop.begin(action);
    loop.settle();
    EXPECT_EQ(loop.take(token).has_value(), i == 2);
  }
  EXPECT_EQ(loop.machine->statistics().waiters_refused, 1U);
}

TEST(LongPolls, CheckTheirParameters) {
  Loop loop;
  loop.create("q");
  EXPECT_EQ(loop.fails(Loop::receiving("q", 11)).message,
            "Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and "
            "10, if provided.");
  EXPECT_EQ(loop.fails(Loop::receiving("q", 1, {}, 21)).message,
            "Value 21 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if "
            "provided.");
  EXPECT_EQ(loop.fails(Loop::receiving("q", 1, 43'201)).code, ErrorCode::invalid_parameter_value);
}

}  // namespace
}  // namespace canopy::queue
