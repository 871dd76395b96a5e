#include "node/queue_service.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <canopy/options.hpp>

namespace canopy::node {
namespace {

using std::chrono::seconds;

const queue::Caller owner{"000000000000", "000000000000"};

queue::QueueName named(const std::string& name) { return {"us-east-1", owner.account, name}; }

// Answered on the storage loop's thread.
class WaitingCall final : public gateway::Call {
 public:
  bool cancelled() const noexcept override { return gone; }
  void done(queue::Outcome given) override {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(given);
    arrived_.notify_one();
  }
  bool wait(seconds time_max = seconds(30)) {
    std::unique_lock lock(mutex_);
    return arrived_.wait_for(lock, time_max, [this] { return outcome_.has_value(); });
  }
  const queue::Outcome& outcome() {
    EXPECT_TRUE(wait());
    return *outcome_;
  }

  std::atomic<bool> gone = false;

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<queue::Outcome> outcome_;
};

class QueueServiceTest : public testing::Test {
 protected:
  QueueServiceTest() {
    std::string pattern = testing::TempDir() + "canopy-queues-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    options_.host.machine.origin = {1, 1 << 16};
    options_.host.machine.fresh_key.fill('k');
  }
  ~QueueServiceTest() override {
    service_.reset();
    std::filesystem::remove_all(root_);
  }

  void keep() {
    options_.directory = root_;
    options_.owner.node = Uuid::from_random_bits(1, 2);
  }
  void start() { service_ = std::make_unique<QueueService>(options_); }

  std::shared_ptr<WaitingCall> ask(queue::Action action) {
    auto call = std::make_shared<WaitingCall>();
    service_->call(owner, std::move(action), call);
    return call;
  }
  void create(const std::string& name) {
    EXPECT_TRUE(ask(queue::CreateQueue{named(name), {}, {}})->outcome().has_value());
  }
  std::shared_ptr<WaitingCall> send(const std::string& name, const std::string& body) {
    queue::SendMessage send{named(name), {}};
    send.entry.body = Buffer::copy_of(body);
    return ask(std::move(send));
  }
  std::shared_ptr<WaitingCall> receive(const std::string& name, std::int64_t wait_s) {
    queue::ReceiveMessage receive;
    receive.queue = named(name);
    receive.wait_time_seconds = wait_s;
    return ask(std::move(receive));
  }
  static std::size_t count(WaitingCall& call) {
    return std::get<queue::ReceiveMessageResult>(call.outcome().value()).messages.size();
  }

  std::string root_;
  QueueServiceOptions options_;
  std::unique_ptr<QueueService> service_;
};

TEST_F(QueueServiceTest, ServesManyThreadsAtOnce) {
  keep();
  start();
  create("q");
  std::vector<std::thread> threads;
  std::atomic<int> sent = 0;
  std::atomic<int> received = 0;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i)
        if (send("q", std::to_string(i))->outcome().has_value()) ++sent;
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) received += static_cast<int>(count(*receive("q", 20)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sent, 300);
  EXPECT_EQ(received, 300);
  create("q2");  // counters are told once a turn, after its answers
  EXPECT_GE(service_->counters().host.commands, 300U);
  EXPECT_EQ(service_->problem(), "");
}

TEST_F(QueueServiceTest, RefusesWhatItsMailboxHasNoRoomFor) {
  options_.request_bytes_max = 2'000;
  start();
  create("q");
  const auto call = send("q", std::string(3'000, 'x'));
  EXPECT_EQ(call->outcome().error().code, queue::ErrorCode::service_unavailable);
  EXPECT_TRUE(send("q", "small")->outcome().has_value());
  EXPECT_EQ(service_->counters().refused, 1U);
}

TEST_F(QueueServiceTest, HoldsAsMuchInMemoryAsItMay) {
  options_.stored_bytes_max = 1 << 20;
  start();
  create("q");
  const std::string body(10'000, 'x');
  int sent = 0;
  while (sent < 1'000 && send("q", body)->outcome().has_value()) ++sent;
  EXPECT_NEAR(sent, (1 << 20) / 10'000, 5);
  EXPECT_NE(send("q", body)->outcome().error().message.find(": queues in memory hold all"),
            std::string::npos);
  const auto received = receive("q", 0);
  const auto& messages =
      std::get<queue::ReceiveMessageResult>(received->outcome().value()).messages;
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(service_->problem(), "") << "told at the end of the turn that refused";
  EXPECT_TRUE(ask(queue::DeleteMessage{named("q"), messages.front().receipt_handle})
                  ->outcome()
                  .has_value());
  EXPECT_TRUE(ask(queue::PurgeQueue{named("q")})->outcome().has_value());
  EXPECT_TRUE(send("q", body)->outcome().has_value());
}

TEST_F(QueueServiceTest, WakesALongPollAndForgetsACancelledOne) {
  start();
  create("q");
  const auto gone = receive("q", 20);
  const auto stays = receive("q", 20);
  gone->gone = true;
  service_->cancelled(gone);
  EXPECT_TRUE(send("q", "m")->outcome().has_value());
  EXPECT_EQ(count(*stays), 1U);
  EXPECT_FALSE(gone->wait(seconds(0)));
}

TEST_F(QueueServiceTest, EndsALongPollInTime) {
  start();
  create("q");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(count(*receive("q", 1)), 0U);
  const auto passed = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(passed, std::chrono::milliseconds(999)) << "commands' times are whole milliseconds";
  EXPECT_LT(passed, seconds(10));
}

TEST_F(QueueServiceTest, AnswersWhatIsOnItsWayBeforeItEnds) {
  keep();
  start();
  create("q");
  std::vector<std::shared_ptr<WaitingCall>> sent;
  for (int i = 0; i < 200; ++i) sent.push_back(send("q", std::to_string(i)));
  const auto waiting = receive("empty", 20);
  service_.reset();
  int kept = 0;
  for (const auto& call : sent) {
    ASSERT_TRUE(call->wait(seconds(0)));
    kept += call->outcome().has_value() ? 1 : 0;
  }
  EXPECT_EQ(kept, 200);
  EXPECT_TRUE(waiting->wait(seconds(0)));
  start();
  const auto attributes =
      ask(queue::GetQueueAttributes{named("q"), {"ApproximateNumberOfMessages"}});
  EXPECT_EQ(std::get<queue::GetQueueAttributesResult>(attributes->outcome().value())
                .attributes.at("ApproximateNumberOfMessages"),
            "200");
}

TEST_F(QueueServiceTest, IsRefusedADirectoryOfAnother) {
  keep();
  start();
  EXPECT_THROW(QueueService{options_}, StartError);  // in use
  service_.reset();
  options_.owner.node = Uuid::from_random_bits(3, 4);
  EXPECT_THROW(start(), StartError);
}

}  // namespace
}  // namespace canopy::node
