// Anycasts, requests and replies between nodes in one process.
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <canopy/node.hpp>

namespace canopy {
namespace {

using boost::asio::use_future;
using boost::system::error_code;
using namespace std::chrono_literals;

const GroupName work{"work", ""};

class RequestTest : public testing::Test {
 protected:
  RequestTest() : work_(boost::asio::make_work_guard(io_)), runner_([this] { io_.run(); }) {}

  ~RequestTest() override {
    nodes_.clear();
    work_.reset();
    runner_.join();
  }

  Node& start(const std::string& name) {
    NodeOptions options;
    options.name = name;
    if (!nodes_.empty()) options.join = {nodes_.front()->self().addresses.front()};
    nodes_.push_back(std::make_unique<Node>(io_.get_executor(), options));
    wait(nodes_.back()->async_start(use_future));
    return *nodes_.back();
  }

  // The result of an operation; its error as an exception.
  template <class T>
  static T wait(std::future<T> future) {
    if (future.wait_for(30s) != std::future_status::ready)
      throw std::runtime_error("no completion");
    return future.get();
  }

  template <class T>
  static error_code error_of(std::future<T> future) {
    try {
      wait(std::move(future));
      return {};
    } catch (const boost::system::system_error& error) {
      return error.code();
    }
  }

  static Subscription join(Node& node, std::size_t requests) {
    JoinOptions options;
    options.requests = requests;
    return wait(node.async_join(work, options, use_future));
  }

  static std::future<RequestResult> ask(Node& node, const std::string& text,
                                        RequestOptions options = {}) {
    return node.async_request(work, Payload(text), std::move(options), use_future);
  }

  static Event next(Subscription& subscription) {
    return wait(subscription.async_receive(1, use_future)).at(0);
  }
  static Message next_message(Subscription& subscription) {
    return std::get<Message>(next(subscription));
  }

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::thread runner_;
};

TEST_F(RequestTest, AReplyComesBackWithItsHeadersAndStatus) {
  Node& a = start("a");
  Node& b = start("b");
  Subscription replier = join(b, 1);
  auto result = ask(a, "question");
  const Message message = next_message(replier);
  EXPECT_EQ(message.payload.view(), "question");
  EXPECT_TRUE(message.anycast);
  ASSERT_TRUE(message.request);
  EXPECT_GT(message.request->within, 5s);
  wait(b.async_reply(message, Payload("answer"), {{{"k", "v"}}, 7}, use_future));
  const RequestResult told = wait(std::move(result));
  ASSERT_EQ(told.replies.size(), 1U);
  EXPECT_EQ(told.id, message.id);
  EXPECT_EQ(told.replies[0].peer.name, "b");
  EXPECT_EQ(told.replies[0].payload.view(), "answer");
  EXPECT_EQ(told.replies[0].headers, (Headers{{"k", "v"}}));
  EXPECT_EQ(told.replies[0].status, 7U);
  EXPECT_EQ(error_of(b.async_reply(message, Payload("again"), {}, use_future)), errc::not_awaited);
}

TEST_F(RequestTest, AMessageThatNobodyAskedByHasNoReply) {
  Node& a = start("a");
  EXPECT_EQ(error_of(a.async_reply(Message{}, Payload("x"), {}, use_future)), errc::not_awaited);
}

TEST_F(RequestTest, AMessageThatIsDroppedDeclines) {
  Node& a = start("a");
  Node& b = start("b");
  Subscription first = join(a, 1);
  Subscription second = join(b, 1);
  auto result = ask(a, "question");
  { const Message dropped = next_message(first); }  // the nearest: a itself
  const Message message = next_message(second);
  wait(b.async_reply(message, Payload("answer"), {}, use_future));
  EXPECT_EQ(wait(std::move(result)).replies.at(0).peer.name, "b");
}

TEST_F(RequestTest, WhoLeavesGivesItsRequestsBack) {
  Node& a = start("a");
  Node& b = start("b");
  Subscription first = join(a, 1);
  Subscription second = join(b, 1);
  auto result = ask(a, "question");
  first.leave();  // it lies in the queue, or is on its way
  const Message message = next_message(second);
  wait(b.async_reply(message, Payload("answer"), {}, use_future));
  EXPECT_EQ(wait(std::move(result)).replies.at(0).peer.name, "b");
}

TEST_F(RequestTest, WhoIsBusyIsPassedBy) {
  Node& a = start("a");
  Node& b = start("b");
  Subscription first = join(a, 1);
  Subscription second = join(b, 1);
  auto one = ask(a, "1");
  auto two = ask(a, "2");
  const Message at_first = next_message(first);
  const Message at_second = next_message(second);
  EXPECT_NE(at_first.payload, at_second.payload);
  auto three = ask(a, "3");  // waits until one of them is free
  EXPECT_EQ(three.wait_for(100ms), std::future_status::timeout);
  wait(b.async_reply(at_second, Payload("b"), {}, use_future));
  wait(a.async_reply(at_first, Payload("a"), {}, use_future));
  const Message third = next_message(first);
  wait(a.async_reply(third, Payload("a"), {}, use_future));
  for (auto* result : {&one, &two, &three}) EXPECT_EQ(wait(std::move(*result)).replies.size(), 1U);
}

TEST_F(RequestTest, SubscriptionsOfAPeerTakeTurns) {
  Node& a = start("a");
  Subscription first = join(a, 100);
  Subscription second = join(a, 100);
  for (int i = 0; i < 10; ++i) ask(a, "x");
  std::vector<Message> held;
  while (held.size() < 10) {
    for (Subscription* each : {&first, &second}) held.push_back(next_message(*each));
  }
  EXPECT_EQ(held.size(), 10U);
}

TEST_F(RequestTest, OnlyThoseWhoReplyGetRequests) {
  Node& a = start("a");
  Subscription listener = join(a, 0);
  RequestOptions at_once;
  at_once.wait_for_member = false;
  EXPECT_EQ(error_of(ask(a, "question", at_once)), errc::no_member);
  // To all, it is an ordinary message for others.
  RequestOptions all;
  all.to = Audience::all;
  EXPECT_EQ(error_of(ask(a, "question", all)), errc::no_member);
  EXPECT_FALSE(next_message(listener).request);
}

TEST_F(RequestTest, AllReplyAndThatTheyAreAllIsKnown) {
  start("a");
  start("b");
  Node& c = start("c");
  std::vector<Subscription> repliers;
  for (const auto& node : nodes_) repliers.push_back(join(*node, 1));
  RequestOptions all;
  all.to = Audience::all;
  auto result = ask(c, "question", all);
  for (std::size_t i = 0; i < 3; ++i) {
    const Message message = next_message(repliers[i]);
    EXPECT_FALSE(message.anycast);
    wait(nodes_[i]->async_reply(message, Payload(nodes_[i]->self().name), {}, use_future));
  }
  const RequestResult told = wait(std::move(result));
  EXPECT_TRUE(told.complete);
  EXPECT_EQ(told.members, 3U);
  std::set<std::string> names;
  for (const Reply& reply : told.replies) names.emplace(reply.payload.view());
  EXPECT_EQ(names, (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(RequestTest, ACancelledRequestIsToldToItsMember) {
  Node& a = start("a");
  Node& b = start("b");
  Subscription replier = join(b, 1);
  boost::asio::cancellation_signal cancel;
  std::promise<error_code> ended;
  a.async_request(work, Payload("question"), {},
                  boost::asio::bind_cancellation_slot(
                      cancel.slot(), [&ended](error_code error, const RequestResult&) {
                        ended.set_value(error);
                      }));
  const Message message = next_message(replier);
  cancel.emit(boost::asio::cancellation_type::total);
  EXPECT_EQ(wait(ended.get_future()), errc::cancelled);
  const auto event = std::get<RequestEnded>(next(replier));
  EXPECT_EQ(event.id, message.id);
  EXPECT_EQ(event.reason, errc::not_awaited);
  EXPECT_EQ(error_of(b.async_reply(message, Payload("x"), {}, use_future)), errc::not_awaited);
}

TEST_F(RequestTest, AtTheDeadlineBothSidesKnow) {
  Node& a = start("a");
  Node& b = start("b");
  Subscription replier = join(b, 1);
  RequestOptions soon;
  soon.within = 200ms;
  auto result = ask(a, "question", soon);
  const Message message = next_message(replier);
  EXPECT_LE(message.request->within, 200ms);
  EXPECT_EQ(error_of(std::move(result)), errc::timed_out);
  EXPECT_EQ(std::get<RequestEnded>(next(replier)).id, message.id);
}

TEST_F(RequestTest, ABusySubscriberDoesNotGetWhatNobodyWaitsForAnyMore) {
  Node& a = start("a");
  Subscription replier = join(a, 2);
  RequestOptions soon;
  soon.within = 100ms;
  EXPECT_EQ(error_of(ask(a, "old", soon)), errc::timed_out);
  auto result = ask(a, "new");
  const Message message = next_message(replier);
  EXPECT_EQ(message.payload.view(), "new");
  wait(a.async_reply(message, Payload("x"), {}, use_future));
  wait(std::move(result));
}

TEST_F(RequestTest, AnycastsAreNotDroppedForLaterMessages) {
  Node& a = start("a");
  JoinOptions narrow;
  narrow.queue_messages_max = 2;
  Subscription group = wait(a.async_join(work, narrow, use_future));
  wait(a.async_anycast(work, Payload("1"), {}, use_future));
  wait(a.async_anycast(work, Payload("2"), {}, use_future));
  EXPECT_EQ(error_of(a.async_anycast(work, Payload("3"), {}, use_future)), errc::no_member);
  wait(a.async_publish(work, Payload("all"), {}, use_future));
  EXPECT_EQ(std::get<Lost>(next(group)).count, 1U);
  EXPECT_EQ(next_message(group).payload.view(), "1");
  EXPECT_EQ(next_message(group).payload.view(), "2");
  wait(a.async_anycast(work, Payload("4"), {}, use_future));
  EXPECT_EQ(next_message(group).payload.view(), "4");
}

TEST_F(RequestTest, AnAnycastCanWaitForRoom) {
  Node& a = start("a");
  AnycastOptions patient;
  patient.wait_for_member = true;
  auto sent = a.async_anycast(work, Payload("x"), patient, use_future);
  Subscription group = wait(a.async_join(work, {}, use_future));
  const AnycastResult result = wait(std::move(sent));
  EXPECT_EQ(result.member.name, "a");
  EXPECT_EQ(next_message(group).id, result.id);
}

}  // namespace
}  // namespace canopy
