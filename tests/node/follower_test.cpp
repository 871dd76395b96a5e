#include "node/follower.hpp"

#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <canopy/error.hpp>

namespace canopy::node {
namespace {

constexpr std::uint64_t epoch = 7;
constexpr std::size_t room_for = 4;  // messages, in the subscription's queue

class FollowerTest : public testing::Test {
 protected:
  static wire::Multicast multicast(std::uint64_t sequence) {
    wire::Multicast message;
    message.epoch = epoch;
    message.sequence = sequence;
    message.id.sequence = sequence;
    message.body = Buffer::copy_of(std::to_string(sequence));
    return message;
  }

  static Message translated(const wire::Multicast& multicast) {
    Message message;
    message.epoch = multicast.epoch;
    message.position = multicast.sequence;
    message.id.sequence = multicast.sequence;
    return message;
  }

  void come(std::uint64_t sequence) {
    const wire::Multicast message = multicast(sequence);
    history_.append(message, {});
    follower_.multicast(message, translated(message), &history_, translate_);
  }

  // Of a best-effort group.
  void come_unordered(std::uint64_t number) {
    wire::Multicast message = multicast(number);
    message.epoch = 0;
    follower_.multicast(message, translated(message), nullptr, translate_);
  }

  void answer(std::optional<std::uint64_t> last, const scribe::OrderHistory* history) {
    std::optional<Message> message;
    if (last) {
      message = translated(multicast(*last));
      message->last = true;
    }
    follower_.last(message, history, translate_);
  }

  void catch_up() { follower_.catch_up(&history_, translate_); }

  // What the subscriber reads, in words.
  std::string read(std::size_t count) {
    std::string words;
    subscription_.async_receive(count, [&](boost::system::error_code, std::vector<Event> events) {
      for (const Event& event : events) words += (words.empty() ? "" : " ") + word(event);
    });
    io_.restart();
    io_.poll();
    return words;
  }

  static std::string word(const Event& event) {
    if (const auto* message = std::get_if<Message>(&event))
      return (message->last ? "last-" : "") + std::to_string(message->position);
    if (const auto* gap = std::get_if<Gap>(&event))
      return std::to_string(gap->first) + "-" + std::to_string(gap->last);
    if (std::holds_alternative<NoLast>(event)) return "none";
    return std::holds_alternative<Lost>(event) ? "lost" : "detached";
  }

  boost::asio::io_context io_;
  std::shared_ptr<Follower::State> state_ = std::make_shared<Follower::State>(
      io_.get_executor(), GroupName{"g", "c"}, JoinOptions{.queue_messages_max = room_for});
  Subscription subscription_{state_};
  Follower follower_{state_};
  scribe::HistoryRoom room_{1 << 20};
  scribe::OrderHistory history_{room_, 10 * scribe::bytes_of(multicast(10))};
  Follower::Translate translate_ = [](const wire::Multicast& multicast, Message& message) {
    message = translated(multicast);
    return true;
  };
};

TEST_F(FollowerTest, WhatDoesNotFitIsTakenFromTheHistory) {
  history_.begin({epoch, 10});
  for (std::uint64_t n = 11; n <= 18; ++n) come(n);
  EXPECT_EQ(read(100), "11 12 13 14");
  catch_up();
  EXPECT_EQ(read(100), "15 16 17 18");
  come(19);
  EXPECT_EQ(read(100), "19");
  EXPECT_EQ(state_->lost(), 0U);
}

TEST_F(FollowerTest, WhatComesWhileItIsBehindWaitsItsTurn) {
  history_.begin({epoch, 0});
  for (std::uint64_t n = 1; n <= 6; ++n) come(n);
  EXPECT_EQ(read(3), "1 2 3");
  come(7);
  EXPECT_EQ(read(100), "4 5 6 7");
}

TEST_F(FollowerTest, WhatHasLeftTheHistoryIsAGap) {
  history_.begin({epoch, 0});
  for (std::uint64_t n = 1; n <= 20; ++n) come(n);
  EXPECT_EQ(read(100), "1 2 3 4");
  catch_up();
  EXPECT_EQ(read(100), "5-10 11 12 13");
  catch_up();
  EXPECT_EQ(read(100), "14 15 16 17");
  EXPECT_EQ(state_->lost(), 6U);
}

TEST_F(FollowerTest, GapsOfTheOrderComeWhereTheyBelongAndOnce) {
  history_.begin({epoch, 0});
  for (std::uint64_t n = 1; n <= 5; ++n) come(n);
  history_.append(wire::LostUpTo{{}, {epoch, 8}}, {});
  follower_.gap({epoch, 6, 8}, &history_, translate_);
  come(9);
  EXPECT_EQ(read(100), "1 2 3 4");
  catch_up();
  EXPECT_EQ(read(100), "5 6-8 9");
  come(10);
  EXPECT_EQ(read(100), "10");
}

TEST_F(FollowerTest, ARepeatedMessageIsNotToldAgain) {
  history_.begin({epoch, 0});
  for (std::uint64_t n = 1; n <= 5; ++n) come(n);
  history_.append(multicast(6), {});
  history_.withhold({epoch, 6}, scribe::Withheld::had);
  come(7);
  EXPECT_EQ(read(100), "1 2 3 4");
  catch_up();
  EXPECT_EQ(read(100), "5 7");
}

TEST_F(FollowerTest, AMessageThatComesTooLateForItsPublishersOrderIsAGap) {
  history_.begin({epoch, 0});
  for (std::uint64_t n = 1; n <= 5; ++n) come(n);
  history_.append(multicast(6), {});
  history_.withhold({epoch, 6}, scribe::Withheld::overtaken);
  follower_.gap({epoch, 6, 6}, &history_, translate_);
  come(7);
  EXPECT_EQ(read(100), "1 2 3 4");
  catch_up();
  EXPECT_EQ(read(100), "5 6-6 7");
}

TEST_F(FollowerTest, ItIsToldThatTheRestDoesNotComeWhenTheMembershipEnds) {
  history_.begin({epoch, 0});
  for (std::uint64_t n = 1; n <= 5; ++n) come(n);
  follower_.detach(errc::shutting_down);
  EXPECT_EQ(read(100), "lost 2 3 4 5-0 detached");
}

TEST_F(FollowerTest, AnotherOrderOfTheGroupMayBeginFurtherDown) {
  history_.begin({epoch, 10});
  come(11);
  history_.begin({epoch - 1, 0});
  wire::Multicast message = multicast(1);
  message.epoch = epoch - 1;
  history_.append(message, {});
  follower_.multicast(message, translated(message), &history_, translate_);
  EXPECT_EQ(read(100), "11 12-0 1");
}

TEST_F(FollowerTest, AnOrderThatEndsIsAGapOfUnknownEnd) {
  history_.begin({epoch, 10});
  come(11);
  follower_.gap({epoch, 12, 0}, nullptr, translate_);
  EXPECT_EQ(read(100), "11 12-0");
}

TEST_F(FollowerTest, ABestEffortQueueMakesRoom) {
  for (std::uint64_t n = 1; n <= 6; ++n) come_unordered(n);
  EXPECT_EQ(read(100), "lost 3 4 5 6");
}

TEST_F(FollowerTest, TheLastMessageComesBeforeWhatCameMeanwhile) {
  follower_.await_last();
  come_unordered(7);
  come_unordered(8);
  EXPECT_EQ(read(100), "");
  answer(6, nullptr);
  come_unordered(9);
  EXPECT_EQ(read(100), "last-6 7 8 9");
}

TEST_F(FollowerTest, TheLastMessageComesOnce) {
  follower_.await_last();
  come_unordered(7);
  come_unordered(8);
  answer(8, nullptr);
  EXPECT_EQ(read(100), "7 8");
}

TEST_F(FollowerTest, WithoutALastMessageItIsToldSo) {
  follower_.await_last();
  answer({}, nullptr);
  come_unordered(1);
  EXPECT_EQ(read(100), "none 1");
}

TEST_F(FollowerTest, NobodyWaitsForALastMessageBehindMany) {
  follower_.await_last();
  for (std::uint64_t n = 1; n <= 300; ++n) come_unordered(n);
  EXPECT_EQ(read(100), "lost 297 298 299 300");
  answer(296, nullptr);
  EXPECT_EQ(read(100), "");
}

TEST_F(FollowerTest, InAnOrderTheLastMessageIsFollowedByTheNext) {
  history_.begin({epoch, 10});
  follower_.await_last();
  come(11);
  EXPECT_EQ(read(100), "");
  answer(10, &history_);
  come(12);
  EXPECT_EQ(read(100), "last-10 11 12");
}

TEST_F(FollowerTest, InAnOrderALastMessageThatIsStillToComeComesByItself) {
  history_.begin({epoch, 10});
  follower_.await_last();
  answer(11, &history_);
  come(11);
  come(12);
  EXPECT_EQ(read(100), "11 12");
}

// Then it is not said that there is none.
TEST_F(FollowerTest, WithoutAnAnswerWhatCameIsTold) {
  follower_.await_last();
  follower_.no_last_known(nullptr, translate_);
  come_unordered(1);
  EXPECT_EQ(read(100), "1");
}

TEST_F(FollowerTest, InAnOrderToo) {
  history_.begin({epoch, 0});
  come(1);
  EXPECT_EQ(read(100), "1");
  follower_.await_last();
  come(2);
  follower_.no_last_known(&history_, translate_);
  EXPECT_EQ(read(100), "2");
}

TEST_F(FollowerTest, InAnOrderTheLastMessageOfAnotherEpochIsNoGap) {
  history_.begin({epoch, 0});
  follower_.await_last();
  wire::Multicast before = multicast(99);
  before.epoch = epoch - 1;
  Message message = translated(before);
  message.last = true;
  follower_.last(message, &history_, translate_);
  come(1);
  EXPECT_EQ(read(100), "last-99 1");
}

}  // namespace
}  // namespace canopy::node
