#include <future>
#include <string>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <canopy/subscription.hpp>

#include "node/subscription_state.hpp"

namespace canopy {
namespace {

using boost::system::error_code;
using detail::SubscriptionState;

class SubscriptionTest : public testing::Test {
 protected:
  void open(JoinOptions options = {}) {
    state_ = std::make_shared<SubscriptionState>(io_.get_executor(), GroupName{"g", "c"}, options);
    state_->on_end([this] { ++ended_; });
    subscription_ = Subscription(state_);
  }

  void push(const std::string& text) {
    Message message;
    message.payload = Payload(text);
    state_->push(std::move(message));
  }

  bool offer(const std::string& text) {
    Message message;
    message.payload = Payload(text);
    return state_->offer(std::move(message));
  }

  auto handler() {
    return [this](error_code error, std::vector<Event> events) {
      ++completions_;
      error_ = error;
      events_ = std::move(events);
    };
  }

  void receive(std::size_t max) {
    subscription_.async_receive(max, handler());
    run();
  }

  void run() {
    io_.restart();
    io_.poll();
  }

  std::string text(std::size_t index) const {
    return std::string(std::get<Message>(events_.at(index)).payload.view());
  }

  boost::asio::io_context io_;
  std::shared_ptr<SubscriptionState> state_;
  Subscription subscription_;
  int ended_ = 0;
  int completions_ = 0;
  error_code error_;
  std::vector<Event> events_;
};

TEST_F(SubscriptionTest, YieldsWhatWaitsInBatches) {
  open();
  for (const char* name : {"1", "2", "3"}) push(name);
  receive(2);
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(text(0), "1");
  EXPECT_EQ(text(1), "2");
  receive(2);
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(text(0), "3");
}

TEST_F(SubscriptionTest, AReceiveWaitsForTheNextMessage) {
  open();
  receive(10);
  EXPECT_EQ(completions_, 0);
  push("1");
  EXPECT_EQ(completions_, 0);  // not from within push
  run();
  EXPECT_EQ(completions_, 1);
  EXPECT_EQ(text(0), "1");
}

TEST_F(SubscriptionTest, NeverCompletesWithinTheCall) {
  open();
  push("1");
  subscription_.async_receive(1, handler());
  EXPECT_EQ(completions_, 0);
  run();
  EXPECT_EQ(completions_, 1);
}

TEST_F(SubscriptionTest, AFullQueueDropsTheOldestAndSaysWhere) {
  open({.queue_messages_max = 3});
  for (int i = 0; i < 5; ++i) push(std::to_string(i));
  receive(10);
  ASSERT_EQ(events_.size(), 4U);
  EXPECT_EQ(std::get<Lost>(events_[0]), Lost{2});
  EXPECT_EQ(text(1), "2");
  EXPECT_EQ(text(3), "4");
  EXPECT_EQ(subscription_.lost(), 2U);
}

TEST_F(SubscriptionTest, TheQueueIsBoundedInBytesToo) {
  open({.queue_messages_max = 1000, .queue_bytes_max = 10'000});
  for (int i = 0; i < 10; ++i) push(std::string(3000, 'x'));
  receive(100);
  EXPECT_EQ(std::get<Lost>(events_[0]), Lost{7});
  EXPECT_EQ(events_.size(), 4U);
}

TEST_F(SubscriptionTest, AMessageLargerThanTheQueueIsLostNotStuck) {
  open({.queue_messages_max = 1000, .queue_bytes_max = 1000});
  push(std::string(3000, 'x'));
  receive(100);
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(std::get<Lost>(events_[0]), Lost{1});
}

TEST_F(SubscriptionTest, WhatIsOfferedToAFullQueueIsRefusedUntilHalfOfItIsFree) {
  open({.queue_messages_max = 4});
  int drained = 0;
  state_->on_drained([&] { ++drained; });
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(offer(std::to_string(i)));
  EXPECT_FALSE(offer("4"));
  EXPECT_FALSE(state_->has_room());
  receive(1);
  EXPECT_EQ(drained, 0);
  receive(1);
  EXPECT_EQ(drained, 1);
  EXPECT_TRUE(offer("4"));
  receive(10);
  EXPECT_EQ(events_.size(), 3U);
  EXPECT_EQ(drained, 1);
  EXPECT_EQ(subscription_.lost(), 0U);
}

TEST_F(SubscriptionTest, WhatIsLargerThanTheQueueIsTakenAlone) {
  open({.queue_messages_max = 1000, .queue_bytes_max = 1000});
  EXPECT_TRUE(offer(std::string(3000, 'x')));
  EXPECT_FALSE(offer("1"));
  receive(100);
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(text(0).size(), 3000U);
}

TEST_F(SubscriptionTest, SeveralQueuesShareARoom) {
  const auto room = std::make_shared<QueueRoom>(10'000);
  open({.shared_room = room});
  SubscriptionState other(io_.get_executor(), GroupName{"h", "c"}, {.shared_room = room});
  for (int i = 0; i < 3; ++i) push(std::string(3000, 'x'));
  Message message;
  message.payload = Payload(std::string(3000, 'x'));
  other.push(message);  // finds no room, and is all that it could drop
  EXPECT_EQ(other.lost(), 1U);
  receive(1);
  other.push(message);
  EXPECT_EQ(other.lost(), 1U);
  subscription_.leave();
  for (int i = 0; i < 2; ++i) other.push(message);
  EXPECT_EQ(other.lost(), 1U);
}

TEST_F(SubscriptionTest, ASecondReceiveIsRefusedWhileOneWaits) {
  open();
  int others = 0;
  subscription_.async_receive(1, [&](error_code, std::vector<Event>) { ++others; });
  receive(1);
  EXPECT_EQ(error_, errc::busy);
  push("1");
  run();
  EXPECT_EQ(others, 1);
}

TEST_F(SubscriptionTest, CancellingAReceiveLosesNothing) {
  open();
  boost::asio::cancellation_signal cancel;
  subscription_.async_receive(1, boost::asio::bind_cancellation_slot(cancel.slot(), handler()));
  cancel.emit(boost::asio::cancellation_type::terminal);
  push("1");
  run();
  EXPECT_EQ(completions_, 1);
  EXPECT_EQ(error_, errc::cancelled);
  receive(1);
  EXPECT_EQ(text(0), "1");
}

TEST_F(SubscriptionTest, DetachedIsTheLastEvent) {
  open();
  push("1");
  EXPECT_TRUE(state_->detach(errc::name_conflict));
  push("2");
  receive(10);
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(std::get<Detached>(events_[1]).reason, errc::name_conflict);
  receive(10);
  EXPECT_EQ(error_, errc::not_joined);
  subscription_ = {};
  EXPECT_EQ(ended_, 0);  // the overlay knows already
}

TEST_F(SubscriptionTest, DestroyingItEndsTheMembershipAndTheReceive) {
  open();
  receive(1);
  subscription_ = {};
  run();
  EXPECT_EQ(error_, errc::not_joined);
  EXPECT_EQ(ended_, 1);
}

TEST_F(SubscriptionTest, LeavingTwiceIsLeavingOnce) {
  open();
  subscription_.leave();
  subscription_.leave();
  subscription_ = {};
  EXPECT_EQ(ended_, 1);
}

TEST_F(SubscriptionTest, AWaitingSmallPayloadDoesNotKeepItsBlockAlive) {
  open();
  auto block = std::make_shared<std::string>(65'536, 'x');
  Message message;
  message.payload = Payload(block, std::string_view(*block).substr(0, 10));
  state_->push(std::move(message));
  EXPECT_EQ(block.use_count(), 1);
  receive(1);
  EXPECT_EQ(text(0), std::string(10, 'x'));
}

TEST_F(SubscriptionTest, OneThatBelongsToNoGroupSaysSo) {
  Subscription none;
  EXPECT_FALSE(none);
  std::promise<error_code> promise;
  none.async_receive(1, [&](error_code error, std::vector<Event>) { promise.set_value(error); });
  EXPECT_EQ(promise.get_future().get(), errc::not_joined);
}

TEST_F(SubscriptionTest, PresenceThatIsNotTakenBecomesOneEvent) {
  open();
  const MemberName ann{Key::of("ann"), "ann"};
  const MemberName ben{Key::of("ben"), "ben"};
  state_->push(Presence{3, true, {}, {}, 0, 0});
  receive(1);
  state_->push(Presence{4, true, {ann}, {}, 0, 0});
  state_->push(Presence{3, false, {ben}, {ann}, 1, 2});
  push("x");
  receive(10);
  ASSERT_EQ(events_.size(), 2u);
  EXPECT_EQ(std::get<Presence>(events_[0]), (Presence{3, false, {ben}, {}, 1, 2}));
  EXPECT_EQ(text(1), "x");
}

TEST_F(SubscriptionTest, TheFirstPresenceThatIsTakenIsANumberAlone) {
  open();
  const MemberName ann{Key::of("ann"), "ann"};
  state_->push(Presence{3, true, {}, {}, 0, 0});
  state_->push(Presence{4, true, {ann}, {}, 0, 0});
  receive(10);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(std::get<Presence>(events_[0]), (Presence{4, true, {}, {}, 0, 0}));
}

TEST_F(SubscriptionTest, PresenceIsNoLostMessage) {
  JoinOptions options;
  options.queue_messages_max = 2;
  open(options);
  state_->push(Presence{3, true, {}, {}, 0, 0});
  for (int i = 0; i < 3; ++i) push(std::to_string(i));
  receive(10);
  ASSERT_EQ(events_.size(), 4u);
  EXPECT_EQ(std::get<Lost>(events_[0]).count, 1u);
  EXPECT_EQ(std::get<Presence>(events_[1]).members, 3u);
}

TEST_F(SubscriptionTest, PresenceWakesWhoWaits) {
  open();
  receive(1);
  EXPECT_EQ(completions_, 0);
  state_->push(Presence{1, true, {}, {}, 0, 0});
  run();
  ASSERT_EQ(events_.size(), 1u);
  receive(1);
  state_->push(Presence{2, true, {}, {}, 0, 0});
  run();
  EXPECT_EQ(completions_, 2);
}

}  // namespace
}  // namespace canopy
