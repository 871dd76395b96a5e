#include "node/queue_host.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "node/queue_host_loop.hpp"

namespace canopy::node {
namespace {

using std::chrono::milliseconds;
using Texts = std::vector<std::string>;

TEST(QueueHost, AnswersWhenTheLogHasTheCommandAndNotBefore) {
  HostLoop loop;
  loop.create_queue("q");
  const auto sent = loop.send("q", "m");
  loop.turn();
  loop.turn();
  EXPECT_FALSE(sent->outcome);
  loop.write_log();
  EXPECT_FALSE(sent->outcome);
  loop.turn();
  EXPECT_TRUE(sent->ok());
  const auto received = loop.receive("q");
  loop.turn();
  EXPECT_EQ(received->bodies(), Texts{"m"});
}

TEST(QueueHost, AppliesWhatIsPersistedAsOneBatch) {
  HostLoop loop;
  loop.create_queue("q");
  const auto before = loop.host->counters();
  std::vector<std::shared_ptr<TestCall>> sent;
  for (int i = 0; i < 100; ++i) sent.push_back(loop.send("q", std::to_string(i)));
  loop.settle(1);
  EXPECT_TRUE(std::all_of(sent.begin(), sent.end(), [](auto& call) { return call->ok(); }));
  EXPECT_EQ(loop.host->counters().batches - before.batches, 1U);
  EXPECT_EQ(loop.host->counters().commands - before.commands, 100U);
}

TEST(QueueHost, RefusesSendsAndServesReadsWhileTheLogCannotBeWritten) {
  HostLoop loop;
  loop.create_queue("q");
  loop.send("q", "kept");
  loop.send("q", "kept too");
  loop.settle();
  loop.disk.faults.write_error = 1;
  const auto lost = loop.send("q", "lost");
  loop.settle();
  EXPECT_TRUE(lost->refused());
  EXPECT_NE(loop.host->problem(), "");
  const auto refused = loop.send("q", "refused");
  const auto received = loop.receive("q");
  loop.turn();
  EXPECT_TRUE(refused->refused());
  EXPECT_EQ(received->messages().size(), 2U);
  EXPECT_GE(loop.host->counters().refused, 2U);

  loop.disk.faults.write_error = 0;
  loop.settle();
  EXPECT_EQ(loop.host->problem(), "");
  loop.send("q", "again");
  loop.settle();
  const auto last = loop.receive("q");
  loop.turn();
  EXPECT_EQ(last->bodies(), Texts{"again"});
}

TEST(QueueHost, ADeleteThatTheLogRefusedDidNotHappen) {
  HostLoop loop;
  loop.create_queue("q");
  loop.send("q", "m");
  loop.settle();
  const auto received = loop.receive("q");
  loop.turn();
  loop.disk.faults.sync_error = 1;
  const std::string handle = received->messages().at(0).receipt_handle;
  const auto removed = loop.ask(queue::DeleteMessage{named("q"), handle});
  loop.settle();
  EXPECT_TRUE(removed->refused());
  loop.disk.faults.sync_error = 0;
  loop.settle();
  const auto again = loop.ask(queue::DeleteMessage{named("q"), handle});
  loop.settle();
  EXPECT_TRUE(again->ok());
}

// A receive says from where on to look for messages, and takes it for granted that the dead
// letters before there are on their way.
TEST(QueueHost, LogsNothingThatWasPreparedAfterARefusedCommand) {
  HostLoop loop;
  const queue::QueueName source = named("source.fifo");
  const std::string redrive =
      R"({"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead.fifo",)"
      R"("maxReceiveCount":"1"})";
  const auto set = [&](const std::string& policy) {
    loop.ask(queue::SetQueueAttributes{source, {{"RedrivePolicy", policy}}});
    loop.settle();
  };
  const auto send = [&](const std::string& group, std::size_t size) {
    queue::SendMessage message{source, {}};
    message.entry.body = Buffer::copy_of(std::string(size, 'm'));
    message.entry.group_id = group;
    message.entry.deduplication_id = group + std::to_string(size);
    loop.ask(std::move(message));
    loop.settle();
  };
  for (const auto& name : {named("dead.fifo"), source})
    loop.ask(queue::CreateQueue{name, {{"FifoQueue", "true"}, {"VisibilityTimeout", "0"}}, {}});
  loop.settle();
  set(redrive);
  // Together they are more than a record of this log.
  send("a", 10'000);
  send("a", 10'001);
  loop.receive("source.fifo");
  loop.settle();
  loop.advance(milliseconds(1));
  send("b", 1);
  const auto received = loop.receive("source.fifo");
  loop.settle();
  EXPECT_TRUE(received->refused());
  set("");
  loop.restart();
  loop.settle();
  const auto again = loop.receive("source.fifo");
  loop.settle();
  EXPECT_EQ(again->messages().size(), 3U);
}

TEST(QueueHost, DoesNotSpinWhileItIsRefused) {
  HostLoop loop;
  loop.create_queue("q");
  loop.disk.faults.write_error = 1;
  loop.send("q", "lost");
  loop.settle();
  const auto next = loop.host->next_turn();
  ASSERT_TRUE(next);
  EXPECT_GT(*next, loop.now());
}

TEST(QueueHost, RefusesChangesWhileTheStoreSaysThatItCannotWrite) {
  HostLoop loop;
  loop.create_queue("q");
  loop.send("q", "m");
  loop.settle();
  loop.host->set_store_problem("the store cannot write: full");
  const auto sent = loop.send("q", "x");
  const auto received = loop.receive("q");
  loop.settle();
  EXPECT_TRUE(sent->refused());
  EXPECT_EQ(received->bodies(), Texts{"m"});
  EXPECT_EQ(loop.host->problem(), "the store cannot write: full");
  loop.host->set_store_problem({});
  const auto again = loop.send("q", "y");
  loop.settle();
  EXPECT_TRUE(again->ok());
}

TEST(QueueHost, TakesDeletesButNoMessagesWhileTheDiskIsAlmostFull) {
  HostLoop loop;
  loop.create_queue("q");
  loop.send("q", "m");
  loop.settle();
  loop.host->set_room_problem("the disk is almost full");
  EXPECT_NE(loop.host->problem(), "");
  const auto sent = loop.send("q", "x");
  const auto received = loop.receive("q");
  loop.turn();
  EXPECT_TRUE(sent->refused());
  const auto removed =
      loop.ask(queue::DeleteMessage{named("q"), received->messages().at(0).receipt_handle});
  loop.settle();
  EXPECT_TRUE(removed->ok());
  loop.host->set_room_problem("");
  const auto again = loop.send("q", "y");
  loop.settle();
  EXPECT_TRUE(again->ok());
  EXPECT_EQ(loop.host->problem(), "");
}

TEST(QueueHost, WaitsWithTheBatchThatTheStoreRefuses) {
  HostLoop loop;
  loop.create_queue("q");
  loop.store.faults.apply_error = 1;
  const auto sent = loop.send("q", "m");
  loop.settle();
  EXPECT_FALSE(sent->outcome);
  EXPECT_FALSE(loop.host->idle());
  EXPECT_NE(loop.host->problem(), "");
  const auto meanwhile = loop.receive("q");
  loop.turn();
  EXPECT_TRUE(meanwhile->refused());

  loop.store.faults.apply_error = 0;
  loop.advance(milliseconds(200));
  loop.settle();
  EXPECT_TRUE(sent->ok());
  EXPECT_EQ(loop.host->problem(), "");
  const auto received = loop.receive("q");
  loop.turn();
  EXPECT_EQ(received->bodies(), Texts{"m"});
}

TEST(QueueHost, GoesOnWithANewMachineWhenTheStoreCouldNotBeRead) {
  HostLoop loop;
  loop.create_queue("q");
  loop.send("q", "m");
  loop.settle();
  loop.restart();  // nothing is cached
  loop.settle();
  loop.store.faults.read_error = 1;
  const auto on_its_way = loop.send("q", "on its way");
  const auto received = loop.receive("q");
  loop.turn();
  EXPECT_TRUE(on_its_way->refused());
  EXPECT_TRUE(received->refused());
  EXPECT_NE(loop.host->problem(), "");
  EXPECT_GE(loop.host->counters().restarts, 1U);

  loop.store.faults.read_error = 0;
  loop.advance(milliseconds(1'500));
  loop.settle();
  EXPECT_EQ(loop.host->problem(), "");
  const auto sent = loop.send("q", "later");
  loop.settle();
  EXPECT_TRUE(sent->ok());
  const auto all = loop.receive("q");
  loop.turn();
  EXPECT_EQ(all->bodies(), (Texts{"m", "later"}));
}

TEST(QueueHost, GivesNothingToAClientThatIsGone) {
  HostLoop loop;
  loop.create_queue("q");
  const auto gone = loop.receive("q", 20);
  const auto stays = loop.receive("q", 20);
  loop.turn();
  gone->gone = true;
  loop.send("q", "m");
  loop.settle();
  EXPECT_FALSE(gone->outcome);
  ASSERT_TRUE(stays->outcome);
  EXPECT_EQ(stays->bodies(), Texts{"m"});
}

TEST(QueueHost, ForgetsACancelledCall) {
  HostLoop loop;
  loop.create_queue("q");
  const auto call = loop.receive("q", 20);
  loop.turn();
  EXPECT_EQ(loop.host->statistics().waiters, 1U);
  loop.host->cancel(call.get());
  EXPECT_EQ(loop.host->statistics().waiters, 0U);
  EXPECT_EQ(call.use_count(), 1);
}

TEST(QueueHost, WhatIsGivenBackWasNotReceived) {
  HostLoop loop;
  loop.create_queue("q");
  loop.send("q", "m");
  loop.settle();
  const auto first = loop.receive("q");
  loop.turn();
  loop.host->give_back(named("q"), {first->messages().at(0).receipt_handle});
  const auto second = loop.receive("q");
  loop.settle();
  ASSERT_EQ(second->messages().size(), 1U);
  EXPECT_EQ(second->messages()[0].attributes.at("ApproximateReceiveCount"), "1");
}

TEST(QueueHost, AnswersALongPollWhenItsTimeIsUp) {
  HostLoop loop;
  loop.create_queue("q");
  const auto call = loop.receive("q", 5);
  loop.turn();
  ASSERT_TRUE(loop.host->next_turn());
  EXPECT_EQ(*loop.host->next_turn(), loop.now() + milliseconds(5'000));
  loop.advance(milliseconds(5'000));
  loop.turn();
  ASSERT_TRUE(call->outcome);
  EXPECT_TRUE(call->bodies().empty());
}

TEST(QueueHost, MakesQueuesOnFirstUseIfAsked) {
  QueueHostOptions options;
  options.create_on_first_use = true;
  HostLoop loop(1, options);
  std::vector<std::shared_ptr<TestCall>> sent;
  for (int i = 0; i < 3; ++i) sent.push_back(loop.send("q", std::to_string(i)));
  const auto other = loop.ask(queue::PurgeQueue{named("other")});
  loop.settle();
  EXPECT_TRUE(std::all_of(sent.begin(), sent.end(), [](auto& call) { return call->ok(); }));
  EXPECT_EQ(other->outcome->error().code, queue::ErrorCode::queue_does_not_exist);
  loop.disk.faults.write_error = 1;
  const auto failed = loop.send("new", "m");
  loop.settle();
  EXPECT_TRUE(failed->refused());
}

TEST(QueueHost, RefusesAFirstUseWhenTheStoreCannotBeRead) {
  QueueHostOptions options;
  options.create_on_first_use = true;
  HostLoop loop(1, options);
  loop.create_queue("q");
  loop.restart();  // nothing is cached
  loop.settle();
  loop.store.faults.read_error = 1;
  const auto first = loop.send("q", "a");
  const auto second = loop.send("q", "b");
  loop.turn();
  EXPECT_TRUE(first->refused());
  EXPECT_TRUE(second->refused());
  loop.store.faults.read_error = 0;
  loop.advance(milliseconds(1'500));
  loop.settle();
  const auto sent = loop.send("q", "c");
  loop.settle();
  EXPECT_TRUE(sent->ok());
}

TEST(QueueHost, CutsTheLogWhenTheStoreHasFlushed) {
  QueueHostOptions options;
  options.flush_bytes = 100'000;
  HostLoop loop(1, options);
  loop.create_queue("q");
  for (int i = 0; i < 400; ++i) {
    loop.send("q", std::string(1'000, 'x'));
    loop.settle(2);
    loop.store.persist();
  }
  EXPECT_GT(loop.log_first(), 100U);
  loop.crash();
  loop.settle();
  const auto count =
      loop.ask(queue::GetQueueAttributes{named("q"), {"ApproximateNumberOfMessages"}});
  loop.turn();
  EXPECT_EQ(std::get<queue::GetQueueAttributesResult>(count->outcome->value())
                .attributes.at("ApproximateNumberOfMessages"),
            "400");
}

}  // namespace
}  // namespace canopy::node
