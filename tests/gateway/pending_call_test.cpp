#include "gateway/pending_call.hpp"

#include <vector>

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace canopy::gateway {
namespace {

const queue::QueueName queue_name{"us-east-1", "000000000000", "q"};

// Keeps what it is asked, and answers when the test says so.
class SlowService final : public Service {
 public:
  void call(queue::Caller, queue::Action action, std::shared_ptr<Call> call) override {
    actions.push_back(std::move(action));
    calls.push_back(std::move(call));
  }
  void call_all(std::vector<Ask>& asks) override {
    batches.push_back(asks.size());
    Service::call_all(asks);
  }
  void cancelled(const std::shared_ptr<Call>& call) override { told.push_back(call); }
  void give_back(queue::QueueName queue, std::vector<std::string> receipt_handles) override {
    EXPECT_EQ(queue, queue_name);
    given_back = std::move(receipt_handles);
  }

  std::vector<queue::Action> actions;
  std::vector<std::shared_ptr<Call>> calls;
  std::vector<std::shared_ptr<Call>> told;
  std::vector<std::string> given_back;
  std::vector<std::size_t> batches;
};

class Owner final : public PendingCall::Owner {
 public:
  void on_outcome(queue::Outcome outcome) override { outcomes.push_back(std::move(outcome)); }
  std::vector<queue::Outcome> outcomes;
};

queue::Outcome two_messages() {
  queue::ReceiveMessageResult result;
  result.messages.resize(2);
  result.messages[0].receipt_handle = "h0";
  result.messages[1].receipt_handle = "h1";
  return result;
}

class PendingCallTest : public testing::Test {
 protected:
  void begin(queue::Action action) {
    call_->begin(owner_, {"000000000000", ""}, std::move(action));
    run();
  }
  void run() {
    loop_->restart();
    loop_->poll();
  }

  queue::ReceiveMessage receive() {
    queue::ReceiveMessage receive;
    receive.queue = queue_name;
    return receive;
  }

  SlowService service_;
  Owner owner_;
  std::shared_ptr<boost::asio::io_context> loop_ = std::make_shared<boost::asio::io_context>(1);
  std::shared_ptr<Mailbag> mailbag_ = std::make_shared<Mailbag>(loop_, service_);
  std::shared_ptr<PendingCall> call_ = std::make_shared<PendingCall>(mailbag_, service_);
};

TEST_F(PendingCallTest, TellsItsOwnerOnTheLoop) {
  begin(receive());
  service_.calls[0]->done(two_messages());
  EXPECT_TRUE(owner_.outcomes.empty());
  run();
  ASSERT_EQ(owner_.outcomes.size(), 1U);
  EXPECT_FALSE(call_->cancelled());
}

TEST_F(PendingCallTest, WhatOneTurnAsksForGoesOutTogether) {
  const auto other = std::make_shared<PendingCall>(mailbag_, service_);
  boost::asio::post(*loop_, [&] { call_->begin(owner_, {}, receive()); });
  boost::asio::post(*loop_, [&] { other->begin(owner_, {}, receive()); });
  run();
  EXPECT_EQ(service_.batches, (std::vector<std::size_t>{2}));
}

TEST_F(PendingCallTest, AsksNothingForAClientThatIsGone) {
  call_->begin(owner_, {}, receive());
  call_->abandon();
  run();
  EXPECT_TRUE(service_.calls.empty());
}

TEST_F(PendingCallTest, TellsTheServiceThatNobodyWaits) {
  begin(receive());
  call_->abandon();
  EXPECT_TRUE(service_.calls[0]->cancelled());
  ASSERT_EQ(service_.told.size(), 1U);
  EXPECT_EQ(service_.told[0], service_.calls[0]);
}

TEST_F(PendingCallTest, GivesBackWhatCameTooLate) {
  begin(receive());
  service_.calls[0]->done(two_messages());
  call_->abandon();
  run();
  EXPECT_TRUE(owner_.outcomes.empty());
  EXPECT_EQ(service_.given_back, (std::vector<std::string>{"h0", "h1"}));
}

TEST_F(PendingCallTest, HasNothingToGiveBackOfOtherActions) {
  begin(queue::PurgeQueue{queue_name});
  call_->abandon();
  service_.calls[0]->done(queue::Done{});
  call_ = std::make_shared<PendingCall>(mailbag_, service_);
  begin(receive());
  service_.calls[1]->done(queue::ReceiveMessageResult{});
  call_->abandon();
  run();
  EXPECT_TRUE(service_.given_back.empty());
}

TEST_F(PendingCallTest, OutlivesTheLoop) {
  begin(receive());
  mailbag_->close();
  loop_.reset();
  mailbag_.reset();
  service_.calls[0]->done(two_messages());
  EXPECT_TRUE(owner_.outcomes.empty());
}

}  // namespace
}  // namespace canopy::gateway
