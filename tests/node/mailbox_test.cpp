#include "node/mailbox.hpp"

#include <memory>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace canopy::node {
namespace {

using Posted = Mailbox::Posted;

class MailboxTest : public testing::Test {
 protected:
  std::shared_ptr<Mailbox> make(std::size_t calls_max, std::size_t bytes_max) {
    return std::make_shared<Mailbox>(loop_, Mailbox::Limits{calls_max, bytes_max});
  }
  boost::asio::io_context loop_;
};

TEST_F(MailboxTest, RunsCallsInTheirOrder) {
  auto mailbox = make(1000, 1000);
  std::vector<int> order;
  for (int i = 0; i < 600; ++i) mailbox->post([&order, i] { order.push_back(i); });
  EXPECT_TRUE(order.empty());
  loop_.run();
  ASSERT_EQ(order.size(), 600U);
  for (int i = 0; i < 600; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(MailboxTest, OneWakeUpServesABatch) {
  auto mailbox = make(1000, 1000);
  for (int i = 0; i < 100; ++i) mailbox->post([] {});
  EXPECT_EQ(loop_.poll(), 1U);
}

TEST_F(MailboxTest, OtherWorkGetsItsTurnDuringAFlood) {
  auto mailbox = make(10'000, 1000);
  int done = 0;
  for (int i = 0; i < 1000; ++i) mailbox->post([&done] { ++done; });
  int done_before_other = -1;
  boost::asio::post(loop_, [&] { done_before_other = done; });
  loop_.run();
  EXPECT_EQ(done, 1000);
  EXPECT_LT(done_before_other, 1000);
}

TEST_F(MailboxTest, RefusesMoreCallsThanItsBoundAndCountsThem) {
  auto mailbox = make(2, 1000);
  EXPECT_EQ(mailbox->post([] {}), Posted::taken);
  EXPECT_EQ(mailbox->post([] {}), Posted::taken);
  EXPECT_EQ(mailbox->post([] {}), Posted::full);
  EXPECT_EQ(mailbox->refused(), 1U);
  loop_.run();
  loop_.restart();
  EXPECT_EQ(mailbox->post([] {}), Posted::taken);
}

TEST_F(MailboxTest, RefusesMoreBytesThanItsBound) {
  auto mailbox = make(100, 10);
  EXPECT_EQ(mailbox->post([] {}, 8), Posted::taken);
  EXPECT_EQ(mailbox->post([] {}, 3), Posted::full);
  EXPECT_EQ(mailbox->post([] {}, 2), Posted::taken);
  loop_.run();
  loop_.restart();
  EXPECT_EQ(mailbox->post([] {}, 10), Posted::taken);
}

TEST_F(MailboxTest, TakesCallsThatFreeSomethingEvenWhenFull) {
  auto mailbox = make(1, 10);
  int freed = 0;
  mailbox->post([] {});
  mailbox->post_always([&freed] { ++freed; });
  loop_.run();
  EXPECT_EQ(freed, 1);
}

TEST_F(MailboxTest, DropsEverythingOnceClosed) {
  auto mailbox = make(10, 10);
  auto witness = std::make_shared<int>(0);
  mailbox->post([witness] { ++*witness; });
  mailbox->close();
  EXPECT_EQ(witness.use_count(), 1);
  EXPECT_EQ(mailbox->post([] {}), Posted::closed);
  loop_.run();
  EXPECT_EQ(*witness, 0);
}

TEST_F(MailboxTest, TakesCallsFromManyThreads) {
  auto mailbox = make(100'000, 1000);
  int done = 0;
  auto guard = boost::asio::make_work_guard(loop_);
  std::thread loop([this] { loop_.run(); });
  std::vector<std::thread> senders;
  for (int t = 0; t < 4; ++t)
    senders.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) mailbox->post([&done] { ++done; });
    });
  for (std::thread& sender : senders) sender.join();
  guard.reset();
  loop.join();
  EXPECT_EQ(done, 20'000);
}

}  // namespace
}  // namespace canopy::node
