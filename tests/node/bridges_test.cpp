// Bridges between a node and queues that refuse, wait and go.
#include "node/bridges.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <canopy/access.hpp>
#include <canopy/error.hpp>

#include "node/node_core.hpp"

namespace canopy::detail {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

const GroupName prices{"prices", ""};

// What a queue service says of bridges, by hand.
class FakeQueues final : public gateway::Service {
 public:
  void call(queue::Caller caller, queue::Action action,
            std::shared_ptr<gateway::Call> call) override {
    last_caller = caller.account;
    if (const auto* add = std::get_if<queue::AddBridge>(&action)) {
      bridges.push_back({add->bridge, {}});
      return call->done(queue::Result(bridges.back()));
    }
    if (std::holds_alternative<queue::ListBridges>(action))
      return call->done(queue::Result(queue::ListBridgesResult{bridges}));
    if (auto* send = std::get_if<queue::SendMulticasts>(&action)) {
      ++asked;
      if (error) return call->done(*error);
      held_.emplace_back(std::move(*send), std::move(call));
      if (!holds) release();
    }
  }
  void cancelled(const std::shared_ptr<gateway::Call>&) override {}
  void give_back(queue::QueueName, std::vector<std::string>) override {}

  void release() {
    holds = false;
    for (auto& [send, call] : std::exchange(held_, {})) {
      queue::Bridge& bridge = bridges.front();
      bridge.counts.sent += send.multicasts.size();
      bridge.counts.lost += send.lost;
      std::size_t bytes = 0;
      for (const queue::Multicast& multicast : send.multicasts) {
        bytes += multicast.body.size();
        bodies.emplace_back(multicast.body.view());
      }
      largest = std::max(largest, bytes);
      call->done(queue::Result(bridge));
    }
  }

  std::vector<queue::Bridge> bridges;
  std::vector<std::string> bodies;
  std::string last_caller;
  std::size_t asked = 0;
  std::size_t largest = 0;  // bytes of bodies
  std::optional<queue::Error> error;
  bool holds = false;

 private:
  std::vector<std::pair<queue::SendMulticasts, std::shared_ptr<gateway::Call>>> held_;
};

class BridgesTest : public testing::Test {
 protected:
  BridgesTest() {
    bool active = false;
    node_.start([&active](error_code error) { active = !error; });
    EXPECT_TRUE(eventually([&active] { return active; }));
  }
  ~BridgesTest() override { bridges_->stop(); }

  static NodeOptions options() {
    NodeOptions options;
    options.name = "a";
    return options;
  }

  bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(10));
    }
    return true;
  }

  BridgeInfo add(const GroupName& group, const std::string& queue) {
    std::optional<BridgeInfo> added;
    bridges_->add(group, queue, [&added](error_code error, BridgeInfo info) {
      EXPECT_FALSE(error) << error.message();
      added = std::move(info);
    });
    EXPECT_TRUE(eventually([&added] { return added.has_value(); }));
    return added.value_or(BridgeInfo{});
  }

  std::vector<BridgeInfo> list() {
    std::optional<std::vector<BridgeInfo>> all;
    bridges_->list([&all](error_code, std::vector<BridgeInfo> bridges) { all = bridges; });
    EXPECT_TRUE(eventually([&all] { return all.has_value(); }));
    return all.value_or(std::vector<BridgeInfo>{});
  }

  void publish(const std::string& body) {
    bool published = false;
    node_.publish(prices, Payload(body), {}, [&published](error_code error, const PublishResult&) {
      EXPECT_FALSE(error) << error.message();
      published = true;
    });
    EXPECT_TRUE(eventually([&published] { return published; }));
  }

  std::size_t subscriptions() {
    std::optional<std::size_t> count;
    node_.status([&count](error_code, NodeStatus status) { count = status.subscriptions; });
    EXPECT_TRUE(eventually([&count] { return count.has_value(); }));
    return count.value_or(0);
  }

  asio::io_context io_;
  std::shared_ptr<NodeCore> core_ = std::make_shared<NodeCore>(io_.get_executor(), options());
  NodeRef node_{core_, io_.get_executor()};
  FakeQueues queues_;
  std::shared_ptr<Bridges> bridges_ = std::make_shared<Bridges>(
      node_, io_.get_executor(), queues_,
      gateway::Place{"us-east-1", "000000000000", "http://localhost"}, "canopy");
};

TEST_F(BridgesTest, AskAsTheQueuesOwner) {
  add(prices, "jobs");
  EXPECT_EQ(queues_.last_caller, "000000000000");
  EXPECT_EQ(queues_.bridges[0].name.queue, (queue::QueueName{"us-east-1", "000000000000", "jobs"}));
  EXPECT_EQ(queues_.bridges[0].name.group, (queue::BridgedGroup{"prices", "canopy"}));
  add({"prices", "me"}, "http://localhost/111122223333/jobs");
  EXPECT_EQ(queues_.last_caller, "111122223333");
  EXPECT_EQ(queues_.bridges[1].name.queue, (queue::QueueName{"us-east-1", "111122223333", "jobs"}));
  EXPECT_EQ(queues_.bridges[1].name.group, (queue::BridgedGroup{"prices", "me"}));
}

TEST_F(BridgesTest, AClosedGroupIsJoinedWithTheToken) {
  const std::string token = make_token();
  CreateOptions closed;
  closed.access.join = {false, {}, {token_id(token)}};
  bool created = false;
  node_.create_with(prices, closed, [&created](error_code error, const CreateResult&) {
    EXPECT_FALSE(error) << error.message();
    created = true;
  });
  EXPECT_TRUE(eventually([&created] { return created; }));
  bridges_->set_tokens({{}, make_token()});
  const BridgeInfo refused = add(prices, "jobs");
  EXPECT_FALSE(refused.joined);
  EXPECT_NE(refused.problem.find("--bridge-token-file"), std::string::npos);
  bridges_->set_tokens({{{{"prices", "canopy"}, token}}, make_token()});
  EXPECT_TRUE(eventually([this] { return list().at(0).joined; }));
  EXPECT_EQ(list().at(0).problem, "");
  publish("a");
  EXPECT_TRUE(eventually([this] { return queues_.bodies == std::vector<std::string>{"a"}; }));
}

TEST_F(BridgesTest, WhatTheQueuesDoNotTakeIsSentUntilTheyDo) {
  add(prices, "jobs");
  queues_.error = queue::Error{queue::ErrorCode::service_unavailable, "full"};
  publish("a");
  publish("b");
  EXPECT_TRUE(eventually([this] { return queues_.asked >= 3; }));
  EXPECT_EQ(list().at(0).problem, "full");
  // Cut between characters, so that it fits a list of many.
  queues_.error->message = "!";
  for (int i = 0; i < 1'000; ++i) queues_.error->message += "ł";
  EXPECT_TRUE(eventually([this] { return list().at(0).problem.ends_with("ł..."); }));
  EXPECT_EQ(list().at(0).problem.size(), 502U);
  queues_.error.reset();
  EXPECT_TRUE(eventually([this] { return queues_.bodies.size() == 2; }));
  EXPECT_EQ(queues_.bodies, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(eventually([this] { return list().at(0).problem.empty(); }));
  EXPECT_EQ(list().at(0).counts.sent, 2U);
  EXPECT_EQ(bridges_->counted().sent, 2U);
  EXPECT_EQ(bridges_->counted().lost, 0U);
}

TEST_F(BridgesTest, WhatComesFasterThanTheQueueTakesItIsDroppedAndCounted) {
  add(prices, "jobs");
  queues_.holds = true;
  publish("first");
  EXPECT_TRUE(eventually([this] { return queues_.asked == 1; }));
  const std::string large(std::size_t{1} << 19, 'x');
  constexpr std::size_t count = 40;  // 20 MiB
  for (std::size_t i = 0; i < count; ++i) publish(large);
  EXPECT_EQ(queues_.asked, 1U);
  queues_.release();
  EXPECT_TRUE(eventually([&] {
    const BridgeCounts counts = list().at(0).counts;
    return counts.sent + counts.lost == count + 1;
  }));
  EXPECT_EQ(queues_.bridges[0].counts.lost, list().at(0).counts.lost);
  EXPECT_EQ(bridges_->counted().lost, list().at(0).counts.lost);
  EXPECT_GT(list().at(0).counts.lost, 0U);
  EXPECT_LE(queues_.largest, std::size_t{3} << 20);
}

TEST_F(BridgesTest, ABatchThatTheQueueRefusesForeverIsLostAndCounted) {
  add(prices, "jobs");
  queues_.error = queue::Error{queue::ErrorCode::access_denied, "no"};
  publish("a");
  EXPECT_TRUE(eventually([this] { return list().at(0).counts.lost == 1; }));
  queues_.error.reset();
  publish("b");
  EXPECT_TRUE(eventually([this] { return !queues_.bodies.empty(); }));
  EXPECT_EQ(queues_.bodies, (std::vector<std::string>{"b"}));
  EXPECT_EQ(queues_.bridges[0].counts.lost, 1U);
}

TEST_F(BridgesTest, EndWhenTheirQueueIsGone) {
  add(prices, "jobs");
  EXPECT_EQ(subscriptions(), 1U);
  queues_.error = queue::Error{queue::ErrorCode::queue_does_not_exist, "gone"};
  publish("a");
  EXPECT_TRUE(eventually([this] { return subscriptions() == 0; }));
}

TEST_F(BridgesTest, EndWhenALookShowsThatTheirQueueIsGone) {
  add(prices, "jobs");
  queues_.bridges.clear();
  EXPECT_TRUE(list().empty());
  EXPECT_TRUE(eventually([this] { return subscriptions() == 0; }));
}

TEST_F(BridgesTest, AnswersOfQueuesThatComeAfterTheEndAreIgnored) {
  add(prices, "jobs");
  queues_.holds = true;
  publish("a");
  EXPECT_TRUE(eventually([this] { return queues_.asked == 1; }));
  bridges_->stop();
  queues_.release();
  EXPECT_TRUE(eventually([this] { return subscriptions() == 0; }));
  error_code refused;
  bridges_->list([&refused](error_code error, const auto&) { refused = error; });
  EXPECT_TRUE(eventually([&refused] { return refused.failed(); }));
  EXPECT_EQ(refused, errc::shutting_down);
}

}  // namespace
}  // namespace canopy::detail
