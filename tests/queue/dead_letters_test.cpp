#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "queue/arn.hpp"
#include "queue/loop.hpp"

namespace canopy::queue {
namespace {

std::string redrive_to(const std::string& target, int receives) {
  return R"({"deadLetterTargetArn":")" + arn_of(named(target)) + R"(","maxReceiveCount":")" +
         std::to_string(receives) + "\"}";
}

void kill(Loop& loop, const std::string& queue, int receives) {
  for (int i = 0; i <= receives; ++i) {
    loop.receive(queue, 10, 1);
    loop.advance(1'000);
  }
}

class DeadLetters : public testing::TestWithParam<const char*> {
 protected:
  DeadLetters() : source("source" + suffix()), dead("dead" + suffix()) {
    loop.create(dead);
    loop.create(source, {{"RedrivePolicy", redrive_to(dead, 2)}});
  }
  std::string suffix() const { return GetParam(); }
  std::optional<std::string> group() const {
    return suffix().empty() ? std::nullopt : std::optional<std::string>("g");
  }

  Loop loop;
  std::string source;
  std::string dead;
};

TEST_P(DeadLetters, MoveAtTheReceiveOverTheLimit) {
  const Sent sent = loop.send(source, "m", group());
  const Millis sent_at = loop.time;
  loop.advance(10);
  const std::string first_received = std::to_string(loop.time);
  ASSERT_EQ(loop.receive(source, 1, 1).size(), 1U);
  loop.advance(1'000);
  ASSERT_EQ(loop.receive(source, 1, 1).size(), 1U);
  loop.advance(5'000);
  EXPECT_EQ(loop.counts(source), (Texts{"1", "0", "0"}));
  EXPECT_EQ(loop.counts(dead), (Texts{"0", "0", "0"}));
  EXPECT_TRUE(loop.receive(source).empty());
  EXPECT_EQ(loop.counts(source), (Texts{"0", "0", "0"}));
  const auto moved = loop.receive(dead);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].message_id, sent.message_id);
  EXPECT_EQ(moved[0].body.view(), "m");
  EXPECT_EQ(moved[0].attributes.at("DeadLetterQueueSourceArn"), arn_of(named(source)));
  // They are counted on.
  EXPECT_EQ(moved[0].attributes.at("ApproximateReceiveCount"), "3");
  if (group()) {
    EXPECT_EQ(moved[0].attributes.at("MessageDeduplicationId"), sent.message_id);
  } else {
    EXPECT_EQ(moved[0].attributes.at("SentTimestamp"), std::to_string(sent_at));
    EXPECT_EQ(moved[0].attributes.at("ApproximateFirstReceiveTimestamp"), first_received);
  }
}

TEST_P(DeadLetters, AreThereWhenTheReceiveThatFoundThemAnswers) {
  loop.send(source, "m", group());
  for (int i = 0; i < 2; ++i) {
    loop.receive(source, 1, 1);
    loop.advance(1'000);
  }
  const Token token = loop.begin(Loop::receiving(source));
  EXPECT_FALSE(loop.take(token));
  loop.settle();
  EXPECT_TRUE(loop.take(token));
  EXPECT_EQ(loop.counts(dead), (Texts{"1", "0", "0"}));
}

TEST_P(DeadLetters, ThatWereDeletedStayDeletedAfterARestart) {
  loop.send(source, "m", group());
  kill(loop, source, 2);
  const auto moved = loop.receive(dead);
  ASSERT_EQ(moved.size(), 1U);
  loop.remove(dead, moved[0].receipt_handle);
  loop.restart();
  loop.advance(60'000);
  EXPECT_EQ(loop.counts(dead), (Texts{"0", "0", "0"}));
  EXPECT_EQ(loop.counts(source), (Texts{"0", "0", "0"}));
}

TEST_P(DeadLetters, ArriveOnceWhereverARestartFalls) {
  for (int cut = 0; cut < 6; ++cut) {
    Loop fresh;
    fresh.create(dead);
    fresh.create(source, {{"RedrivePolicy", redrive_to(dead, 1)}});
    fresh.send(source, "m", group());
    fresh.receive(source, 1, 1);
    fresh.advance(1'000);
    fresh.begin(Loop::receiving(source));
    for (int i = 0; i < cut; ++i) {
      fresh.apply_pending();
      fresh.machine->tick(fresh.now(), fresh);
    }
    fresh.restart();
    kill(fresh, source, 1);
    EXPECT_EQ(fresh.counts(source), (Texts{"0", "0", "0"})) << cut;
    EXPECT_EQ(fresh.counts(dead), (Texts{"1", "0", "0"})) << cut;
  }
}

TEST_P(DeadLetters, ComeBackWhenTheLogRefusedTheirMove) {
  loop.send(source, "m", group());
  for (int i = 0; i < 2; ++i) {
    loop.receive(source, 1, 1);
    loop.advance(1'000);
  }
  loop.begin(Loop::receiving(source));
  loop.fail_pending();
  EXPECT_TRUE(loop.receive(source).empty());
  EXPECT_EQ(loop.receive(dead).size(), 1U);
}

// The log takes no record of any length.
TEST_P(DeadLetters, MoveThereAndBackByCommandsThatAreNotTooLong) {
  Limits limits;
  limits.move_bytes_max = 1'000;
  Loop small(limits);
  small.create(dead);
  small.create(source, {{"RedrivePolicy", redrive_to(dead, 1)}});
  for (int i = 0; i < 20; ++i) small.send(source, std::string(400, 'm'), group());
  for (int i = 0; i < 20; ++i) kill(small, source, 1);
  EXPECT_EQ(small.counts(dead), (Texts{"20", "0", "0"}));
  small.ask<StartMessageMoveTaskResult>(StartMessageMoveTask{arn_of(named(dead)), {}, {}});
  for (int i = 0; i < 20; ++i) small.advance(1'000);
  EXPECT_EQ(small.counts(source), (Texts{"20", "0", "0"}));
  for (const Buffer& record : small.log) EXPECT_LT(record.size(), 2'500U);
}

TEST_P(DeadLetters, StayWhereTheyAreWithoutATarget) {
  loop.send(source, "m", group());
  loop.ask<Done>(DeleteQueue{named(dead)});
  kill(loop, source, 4);
  EXPECT_EQ(loop.receive(source).size(), 1U);
}

TEST_P(DeadLetters, KnowTheirSources) {
  const auto sources = loop.ask<ListQueuesResult>(ListDeadLetterSourceQueues{named(dead), {}, {}});
  ASSERT_EQ(sources.queues.size(), 1U);
  EXPECT_EQ(sources.queues[0], named(source));
  loop.ask<Done>(SetQueueAttributes{named(source), {{"RedrivePolicy", ""}}});
  EXPECT_TRUE(
      loop.ask<ListQueuesResult>(ListDeadLetterSourceQueues{named(dead), {}, {}}).queues.empty());
}

TEST_P(DeadLetters, GoBackByAMoveTask) {
  for (int i = 0; i < 7; ++i) loop.send(source, std::to_string(i), group());
  for (int i = 0; i < 4; ++i) {
    loop.receive(source, 10, 1);
    loop.advance(1'000);
  }
  EXPECT_EQ(loop.counts(dead), (Texts{"7", "0", "0"}));
  const StartMessageMoveTask start{arn_of(named(dead)), {}, 2};
  const auto handle = loop.ask<StartMessageMoveTaskResult>(start).task_handle;
  EXPECT_TRUE(contains(loop.fails(start).message, "already a task running"));
  loop.advance(900);
  auto tasks =
      loop.ask<ListMessageMoveTasksResult>(ListMessageMoveTasks{arn_of(named(dead)), 10}).tasks;
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].status, "RUNNING");
  EXPECT_EQ(tasks[0].task_handle, handle);
  EXPECT_EQ(tasks[0].to_move, 7U);
  EXPECT_LE(tasks[0].moved, 3U);
  loop.restart();
  for (int i = 0; i < 10; ++i) loop.advance(500);
  tasks = loop.ask<ListMessageMoveTasksResult>(ListMessageMoveTasks{arn_of(named(dead)), 10}).tasks;
  EXPECT_EQ(tasks[0].status, "COMPLETED");
  EXPECT_EQ(tasks[0].moved, 7U);
  EXPECT_EQ(loop.counts(source), (Texts{"7", "0", "0"}));
  EXPECT_EQ(loop.counts(dead), (Texts{"0", "0", "0"}));
}

TEST_P(DeadLetters, AreNewMessagesOnceATaskMovedThem) {
  const Sent sent = loop.send(source, "m", group());
  kill(loop, source, 2);
  loop.ask<StartMessageMoveTaskResult>(StartMessageMoveTask{arn_of(named(dead)), {}, {}});
  loop.advance(1'000);
  const auto back = loop.receive(source);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_NE(back[0].message_id, sent.message_id);
  EXPECT_EQ(back[0].attributes.at("ApproximateReceiveCount"), "1");
  EXPECT_EQ(back[0].attributes.at("ApproximateFirstReceiveTimestamp"), std::to_string(loop.time));
  EXPECT_GE(back[0].attributes.at("SentTimestamp"), std::to_string(loop.time - 1'000));
  EXPECT_FALSE(back[0].attributes.contains("DeadLetterQueueSourceArn"));
}

TEST_P(DeadLetters, AMoveTaskTakesWhatWasLookedAt) {
  loop.send(source, "m", group());
  for (int i = 0; i < 4; ++i) {
    loop.receive(source, 10, 1);
    loop.advance(1'000);
  }
  ASSERT_EQ(loop.receive(dead, 10, 0).size(), 1U);
  loop.ask<StartMessageMoveTaskResult>(StartMessageMoveTask{arn_of(named(dead)), {}, {}});
  loop.advance(1'000);
  EXPECT_EQ(loop.counts(source), (Texts{"1", "0", "0"}));
  EXPECT_EQ(loop.counts(dead), (Texts{"0", "0", "0"}));
}

TEST_P(DeadLetters, AMoveTaskCanBeCancelled) {
  for (int i = 0; i < 5; ++i) loop.send(source, std::to_string(i), group());
  for (int i = 0; i < 4; ++i) {
    loop.receive(source, 10, 1);
    loop.advance(1'000);
  }
  const auto handle =
      loop.ask<StartMessageMoveTaskResult>(StartMessageMoveTask{arn_of(named(dead)), {}, 1})
          .task_handle;
  loop.advance(1'500);
  EXPECT_EQ(loop.ask<CancelMessageMoveTaskResult>(CancelMessageMoveTask{handle}).moved, 2U);
  loop.advance(10'000);
  EXPECT_EQ(loop.counts(source), (Texts{"2", "0", "0"}));
  EXPECT_EQ(loop.counts(dead), (Texts{"3", "0", "0"}));
  EXPECT_EQ(loop.fails(CancelMessageMoveTask{handle}).code, ErrorCode::unsupported_operation);
  EXPECT_EQ(loop.fails(CancelMessageMoveTask{"nonsense"}).code, ErrorCode::invalid_parameter_value);
}

TEST_P(DeadLetters, AMoveTaskIsNamedByAnIdAndItsSource) {
  loop.send(dead, "m", group());
  const StartMessageMoveTask start{arn_of(named(dead)), arn_of(named(source)), 1};
  loop.restart();
  const auto handle = loop.ask<StartMessageMoveTaskResult>(start).task_handle;
  const std::string readable = from_base64(handle).value_or("");
  EXPECT_TRUE(readable.starts_with(R"({"taskId":")")) << readable;
  EXPECT_TRUE(readable.ends_with(R"(","sourceArn":")" + arn_of(named(dead)) + "\"}")) << readable;
  const auto fails = [&](std::size_t at, const std::string& with) {
    std::string other = readable;
    other.replace(at, with.size(), with);
    return loop.fails(CancelMessageMoveTask{to_base64(other)});
  };
  const std::size_t in_id = readable.find("-");
  EXPECT_EQ(fails(in_id, "xx").code, ErrorCode::resource_not_found);
  EXPECT_EQ(fails(in_id, "xx").message, "Task does not exist.");
  EXPECT_EQ(fails(readable.find("dead"), "none").message,
            "The resource that you specified for the SourceArn parameter doesn't exist.");
  EXPECT_EQ(fails(0, "[").code, ErrorCode::invalid_parameter_value);
  const auto other = loop.fails(CancelMessageMoveTask{handle}, {"111111111111", "someone"});
  EXPECT_EQ(other.code, ErrorCode::access_denied);
  loop.ask<CancelMessageMoveTaskResult>(CancelMessageMoveTask{handle});
}

TEST_P(DeadLetters, MayHaveDeadLettersOfTheirOwn) {
  const std::string last = "last" + suffix();
  loop.create(last);
  loop.ask<Done>(SetQueueAttributes{named(dead), {{"RedrivePolicy", redrive_to(last, 1)}}});
  const Sent sent = loop.send(source, "m", group());
  kill(loop, source, 2);
  kill(loop, dead, 1);
  const auto moved = loop.receive(last);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].message_id, sent.message_id);
  EXPECT_EQ(moved[0].attributes.at("DeadLetterQueueSourceArn"), arn_of(named(dead)));
}

TEST_P(DeadLetters, GoBackIfTheirQueueIsDeletedOnTheWay) {
  const std::string other = "other" + suffix();
  loop.create(other, {{"RedrivePolicy", redrive_to(source, 2)}});
  for (const std::string& queue : {source, other}) loop.send(queue, "of " + queue, group());
  for (int i = 0; i < 2; ++i) {
    for (const std::string& queue : {source, other}) loop.receive(queue, 1, 1);
    loop.advance(1'000);
  }
  // Into the outbox: that of the source before the one to it.
  for (const std::string& queue : {source, other}) loop.begin(Loop::receiving(queue));
  loop.apply_pending();
  loop.begin(DeleteQueue{named(dead)});
  loop.machine->tick(loop.now(), loop);  // out of the outbox, behind the deletion in the log
  loop.settle();
  loop.restart();
  loop.advance(60'000);  // the receives above may have got them
  auto bodies = loop.bodies(source);
  std::ranges::sort(bodies);
  EXPECT_EQ(bodies, (Texts{"of " + other, "of " + source}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeadLetters, testing::Values("", ".fifo"),
                         [](const auto& kind) { return *kind.param == 0 ? "Standard" : "Fifo"; });

TEST(MoveTasks, FailWhenNobodyKnowsWhereAMessageCameFrom) {
  Loop loop;
  loop.create("dead");
  loop.create("source", {{"RedrivePolicy", redrive_to("dead", 1)}});
  loop.send("dead", "m");
  loop.ask<StartMessageMoveTaskResult>(StartMessageMoveTask{arn_of(named("dead")), {}, {}});
  loop.advance(1'000);
  const auto tasks =
      loop.ask<ListMessageMoveTasksResult>(ListMessageMoveTasks{arn_of(named("dead")), 1}).tasks;
  EXPECT_EQ(tasks[0].status, "FAILED");
  EXPECT_EQ(tasks[0].failure_reason, "CouldNotDetermineMessageSource");
  EXPECT_EQ(loop.receive("dead").size(), 1U);
}

TEST(MoveTasks, GiveEachMessageBackToItsOwnSource) {
  Loop loop;
  loop.create("dead");
  for (const char* source : {"a", "b"}) {
    loop.create(source, {{"RedrivePolicy", redrive_to("dead", 1)}});
    loop.send(source, source);
    kill(loop, source, 1);
  }
  loop.ask<StartMessageMoveTaskResult>(StartMessageMoveTask{arn_of(named("dead")), {}, {}});
  loop.advance(1'000);
  EXPECT_EQ(loop.bodies("a"), (Texts{"a"}));
  EXPECT_EQ(loop.bodies("b"), (Texts{"b"}));
}

TEST(MoveTasks, FailWhenTheirTargetIsDeleted) {
  Loop loop;
  loop.create("dead");
  loop.create("source", {{"RedrivePolicy", redrive_to("dead", 1)}});
  loop.create("target");
  for (int i = 0; i < 5; ++i) loop.send("dead", "m");
  const std::string arn = arn_of(named("dead"));
  loop.ask<StartMessageMoveTaskResult>(StartMessageMoveTask{arn, arn_of(named("target")), 1});
  loop.advance(1'500);
  loop.ask<Done>(DeleteQueue{named("target")});
  loop.advance(5'000);
  const auto task = loop.ask<ListMessageMoveTasksResult>(ListMessageMoveTasks{arn, 1}).tasks.at(0);
  EXPECT_EQ(task.status, "FAILED");
  EXPECT_EQ(task.failure_reason, "AWS.SimpleQueueService.NonExistentQueue");
  EXPECT_EQ(task.moved, 2U);
  EXPECT_TRUE(task.task_handle.empty());
  EXPECT_EQ(loop.counts("dead"), (Texts{"3", "0", "0"}));
}

TEST(MoveTasks, SayWhatTheyNeed) {
  Loop loop;
  loop.create("q");
  const std::string arn = arn_of(named("q"));
  EXPECT_EQ(loop.fails(StartMessageMoveTask{arn, {}, {}}).message,
            "Source queue must be configured as a Dead Letter Queue.");
  EXPECT_EQ(loop.fails(StartMessageMoveTask{arn, {}, 501}).code,
            ErrorCode::invalid_parameter_value);
  EXPECT_EQ(loop.fails(StartMessageMoveTask{arn_of(named("none")), {}, {}}).code,
            ErrorCode::resource_not_found);
}

TEST(RedrivePolicy, IsCheckedAgainstTheTarget) {
  Loop loop;
  loop.create("dead");
  loop.create("dead.fifo");
  const auto fails = [&loop](const std::string& policy) {
    return loop.fails(CreateQueue{named("q"), {{"RedrivePolicy", policy}}, {}}).message;
  };
  EXPECT_TRUE(contains(fails(redrive_to("none", 1)), "Dead letter target does not exist."));
  EXPECT_TRUE(contains(fails(redrive_to("dead.fifo", 1)), "must be same type of queue"));
  EXPECT_TRUE(contains(fails(redrive_to("dead", 0)), "valid values are from 1 to 1000"));
  EXPECT_TRUE(contains(fails("{}"), "mandatory attribute: maxReceiveCount"));
  EXPECT_TRUE(contains(fails(R"({"maxReceiveCount":1})"), "attribute: deadLetterTargetArn"));
  EXPECT_TRUE(contains(fails("no"), "not a valid JSON map"));
  EXPECT_TRUE(contains(fails(R"({"deadLetterTargetArn":"arn:aws:sns:r:1:t","maxReceiveCount":1})"),
                       "Only SQS queues"));
  std::string more = redrive_to("dead", 1);
  more.insert(1, R"("more":1,)");
  EXPECT_TRUE(contains(fails(more), "Only following attributes are supported"));
  loop.ask<Done>(SetQueueAttributes{
      named("dead"), {{"RedriveAllowPolicy", R"({"redrivePermission":"denyAll"})"}}});
  EXPECT_TRUE(contains(fails(redrive_to("dead", 1)), "does not allow"));
  loop.ask<Done>(SetQueueAttributes{
      named("dead"),
      {{"RedriveAllowPolicy",
        R"({"redrivePermission":"byQueue","sourceQueueArns":[")" + arn_of(named("q")) + "\"]}"}}});
  loop.create("q", {{"RedrivePolicy", redrive_to("dead", 1)}});
}

}  // namespace
}  // namespace canopy::queue
