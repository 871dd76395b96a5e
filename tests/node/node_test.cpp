// Nodes in one process, over real sockets.
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <canopy/node.hpp>

namespace canopy {
namespace {

using boost::asio::use_future;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto patience = 30s;

class NodeTest : public testing::Test {
 protected:
  NodeTest() : work_(boost::asio::make_work_guard(io_)), runner_([this] { io_.run(); }) {}

  ~NodeTest() override {
    nodes_.clear();
    work_.reset();
    runner_.join();
  }

  NodeOptions options(const std::string& name) const {
    NodeOptions options;
    options.name = name;
    if (!nodes_.empty()) options.join = {nodes_.front()->self().addresses.front()};
    return options;
  }

  Node& add(const NodeOptions& options) {
    nodes_.push_back(std::make_unique<Node>(io_.get_executor(), options));
    return *nodes_.back();
  }

  Node& start(const std::string& name) {
    Node& node = add(options(name));
    wait(node.async_start(use_future));
    return node;
  }

  // The result of an operation; its error as an exception.
  template <class T>
  static T wait(std::future<T> future) {
    if (future.wait_for(patience) != std::future_status::ready)
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

  static std::uint64_t counter(Node& node, const std::string& name) {
    for (const Counter& counter : wait(node.async_status(use_future)).counters)
      if (counter.name == name) return counter.value;
    throw std::runtime_error("no counter " + name);
  }

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::thread runner_;
};

TEST_F(NodeTest, AccessListsSayWhoJoinsPublishesAndManages) {
  Node& first = start("a");
  Node& second = start("b");
  const std::string secret = make_token();
  CreateOptions closed;
  closed.mode = GroupMode::ordered;
  closed.access.join = {false, {}, {token_id(secret)}};
  closed.access.publish = {false, {Key::of("a")}, {}};
  EXPECT_EQ(wait(first.async_create({"g", ""}, closed, use_future)),
            (CreateResult{false, GroupMode::ordered}));
  EXPECT_TRUE(wait(second.async_create({"g", ""}, closed, use_future)).existed);

  EXPECT_EQ(error_of(second.async_join({"g", ""}, {}, use_future)), errc::denied);
  EXPECT_EQ(error_of(second.async_member_count({"g", ""}, use_future)), errc::denied);
  EXPECT_EQ(error_of(second.async_tree({"g", ""}, use_future)), errc::denied);
  EXPECT_EQ(wait(second.async_member_count({"g", ""}, secret, use_future)).members, 0U);
  EXPECT_TRUE(wait(second.async_tree({"g", ""}, secret, use_future)).complete);
  EXPECT_EQ(wait(first.async_member_count({"g", ""}, use_future)).members, 0U);
  JoinOptions with_token;
  with_token.token = secret;
  Subscription group = wait(second.async_join({"g", ""}, with_token, use_future));
  EXPECT_EQ(group.mode(), GroupMode::ordered);
  EXPECT_EQ(error_of(second.async_publish({"g", ""}, Payload("x"), {}, use_future)), errc::denied);
  wait(first.async_publish({"g", ""}, Payload("x"), {}, use_future));
  EXPECT_TRUE(std::holds_alternative<Message>(wait(group.async_receive(1, use_future)).front()));

  GroupDefinition known = wait(second.async_access({"g", ""}, use_future));
  EXPECT_EQ(known.mode, GroupMode::ordered);
  EXPECT_EQ(known.access->join, closed.access.join);
  EXPECT_EQ(known.access->manage.peers, std::vector{Key::of("a")});
  known.access->join = {false, {}, {}};
  EXPECT_EQ(error_of(second.async_set_access({"g", ""}, known.access_version, *known.access, "",
                                             use_future)),
            errc::denied);
  wait(first.async_set_access({"g", ""}, known.access_version, *known.access, "", use_future));
  EXPECT_EQ(error_of(first.async_set_access({"g", ""}, known.access_version, *known.access, "",
                                            use_future)),
            errc::conflict);
  const Event event = wait(group.async_receive(1, use_future)).front();
  EXPECT_EQ(std::get<Detached>(event).reason, errc::denied);

  wait(first.async_delete_group({"g", ""}, "", use_future));
  EXPECT_EQ(error_of(first.async_access({"g", ""}, use_future)), errc::no_such_group);
}

TEST_F(NodeTest, JoinsAtOnceWithDifferentTokensEachCount) {
  Node& node = start("a");
  const std::string secret = make_token();
  CreateOptions closed;
  closed.access.join = {false, {}, {token_id(secret)}};
  wait(node.async_create({"g", ""}, closed, use_future));
  JoinOptions good;
  good.token = secret;
  JoinOptions bad;
  bad.token = make_token();
  auto refused = node.async_join({"g", ""}, bad, use_future);
  auto bare = node.async_join({"g", ""}, {}, use_future);
  auto taken = node.async_join({"g", ""}, good, use_future);
  EXPECT_EQ(error_of(std::move(refused)), errc::denied);
  EXPECT_EQ(error_of(std::move(bare)), errc::denied);
  EXPECT_TRUE(wait(std::move(taken)));
}

TEST_F(NodeTest, ANodeThatIsStartedAgainStillHasItsGroups) {
  char directory[] = "/tmp/canopy-node-XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  NodeOptions kept = options("a");
  kept.data_directory = directory;
  CreateOptions closed;
  closed.mode = GroupMode::ordered;
  closed.access.join = {false, {Key::of("b")}, {}};
  wait(add(kept).async_start(use_future));
  wait(nodes_.back()->async_create({"g", ""}, closed, use_future));
  nodes_.clear();
  Node& again = add(kept);
  wait(again.async_start(use_future));
  const GroupDefinition known = wait(again.async_access({"g", ""}, use_future));
  EXPECT_EQ(known.mode, GroupMode::ordered);
  EXPECT_EQ(known.access->join, closed.access.join);
  EXPECT_EQ(error_of(again.async_join({"g", ""}, {}, use_future)), errc::denied);
  wait(again.async_delete_group({"g", ""}, "", use_future));
  nodes_.clear();
  Node& third = add(kept);
  wait(third.async_start(use_future));
  EXPECT_EQ(error_of(third.async_join({"g", ""}, {}, use_future)), errc::no_such_group);
  nodes_.clear();
  std::filesystem::remove_all(directory);
}

TEST_F(NodeTest, OnlyCreatorsFoundGroupsAndLimitsHold) {
  NodeOptions strict = options("a");
  const std::string secret = make_token();
  strict.group_creators = {false, {}, {token_id(secret)}};
  strict.groups_joined_max = 1;
  strict.publish_messages_per_second = 2;
  Node& node = add(strict);
  wait(node.async_start(use_future));
  EXPECT_EQ(error_of(node.async_join({"g", ""}, {}, use_future)), errc::no_such_group);
  EXPECT_EQ(error_of(node.async_create({"g", ""}, CreateOptions{}, use_future)), errc::denied);
  CreateOptions with_token;
  with_token.token = secret;
  wait(node.async_create({"g", ""}, with_token, use_future));
  wait(node.async_create({"h", ""}, with_token, use_future));
  Subscription group = wait(node.async_join({"g", ""}, {}, use_future));
  EXPECT_EQ(error_of(node.async_join({"h", ""}, {}, use_future)), errc::limit);
  EXPECT_EQ(counter(node, "node.joins_over_limit"), 1u);
  std::vector<std::future<PublishResult>> publishes;
  for (int i = 0; i < 40; ++i)
    publishes.push_back(node.async_publish({"g", ""}, Payload("x"), {}, use_future));
  std::size_t refused = 0;
  for (auto& publish : publishes) {
    const boost::system::error_code error = error_of(std::move(publish));
    refused += error == errc::limit;
    EXPECT_EQ(error == errc::limit, refused != 0);  // and all after it
  }
  EXPECT_GE(refused, 20u);
  EXPECT_LE(refused, 38u);
  EXPECT_GT(counter(node, "tree.publishes_over_rate"), 0u);
}

TEST_F(NodeTest, FoundsAloneAndDelivers) {
  Node& node = start("a");
  EXPECT_EQ(node.beginning(), Beginning::founds);
  Subscription group = wait(node.async_join({"g", ""}, {}, use_future));
  EXPECT_EQ(group.group(), (GroupName{"g", "canopy"}));
  wait(node.async_publish({"g", "canopy"}, Payload("x"), {}, use_future));
  const auto events = wait(group.async_receive(10, use_future));
  EXPECT_EQ(std::get<Message>(events.at(0)).payload.view(), "x");
}

TEST_F(NodeTest, SeveralSubscriptionsShareOneMembership) {
  Node& node = start("a");
  Subscription first = wait(node.async_join({"g", ""}, {}, use_future));
  Subscription second = wait(node.async_join({"g", ""}, {}, use_future));
  wait(node.async_publish({"g", ""}, Payload("1"), {}, use_future));
  wait(first.async_receive(1, use_future));
  wait(second.async_receive(1, use_future));
  first = {};
  wait(node.async_publish({"g", ""}, Payload("2"), {}, use_future));
  EXPECT_EQ(std::get<Message>(wait(second.async_receive(1, use_future)).at(0)).payload.view(), "2");
  second.leave();
  const auto groups = wait(node.async_groups(use_future));
  for (const GroupInfo& group : groups) EXPECT_FALSE(group.member);
  EXPECT_EQ(wait(node.async_status(use_future)).subscriptions, 0U);
}

TEST_F(NodeTest, TellsHowManyMembersHaveAMessage) {
  Node& first = start("a");
  Node& second = start("b");
  PublishOptions members;
  members.ack = Ack::members;
  EXPECT_EQ(error_of(first.async_publish({"g", ""}, Payload("x"), members, use_future)),
            errc::no_such_group);
  Subscription one = wait(first.async_join({"g", ""}, {}, use_future));
  Subscription two = wait(second.async_join({"g", ""}, {}, use_future));
  Subscription three = wait(second.async_join({"g", ""}, {}, use_future));
  const PublishResult result =
      wait(first.async_publish({"g", ""}, Payload("x"), members, use_future));
  EXPECT_EQ(result.members_reached, 2U);
  EXPECT_TRUE(result.complete);
  EXPECT_TRUE(result.unreachable.empty());
  const PublishResult untracked =
      wait(first.async_publish({"g", ""}, Payload("x"), {}, use_future));
  EXPECT_FALSE(untracked.members_reached.has_value());
}

TEST_F(NodeTest, CountsMembers) {
  Node& first = start("a");
  Node& second = start("b");
  EXPECT_EQ(error_of(first.async_member_count({"g", ""}, use_future)), errc::no_such_group);
  EXPECT_EQ(error_of(first.async_member_count({"", ""}, use_future)), errc::bad_name);
  wait(first.async_create({"g", ""}, GroupMode::best_effort, use_future));
  EXPECT_EQ(wait(first.async_member_count({"g", ""}, use_future)).members, 0U);
  Subscription one = wait(first.async_join({"g", ""}, {}, use_future));
  Subscription two = wait(second.async_join({"g", ""}, {}, use_future));
  Subscription three = wait(second.async_join({"g", ""}, {}, use_future));
  MemberCount count;  // word of who has just joined is on its way
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (count.members != 2 && std::chrono::steady_clock::now() < deadline) {
    count = wait(first.async_member_count({"g", ""}, use_future));
  }
  EXPECT_EQ(count.members, 2U);
  EXPECT_TRUE(count.complete);
}

TEST_F(NodeTest, PresenceTellsWhoComesAndWhoGoes) {
  Node& first = start("a");
  Node& second = start("b");
  JoinOptions watching;
  watching.presence = true;
  Subscription group = wait(first.async_join({"g", ""}, watching, use_future));
  const auto next = [&] {
    return std::get<Presence>(wait(group.async_receive(1, use_future)).at(0));
  };
  EXPECT_EQ(next(), (Presence{1, true, {}, {}, 0, 0}));
  Subscription other = wait(second.async_join({"g", ""}, {}, use_future));
  const std::vector<MemberName> name{{second.self().id, "b"}};
  EXPECT_EQ(next(), (Presence{2, true, name, {}, 0, 0}));
  Subscription later = wait(first.async_join({"g", ""}, watching, use_future));
  EXPECT_EQ(std::get<Presence>(wait(later.async_receive(1, use_future)).at(0)),
            (Presence{2, true, {}, {}, 0, 0}));
  other.leave();
  EXPECT_EQ(next(), (Presence{1, true, {}, name, 0, 0}));
}

TEST_F(NodeTest, WhoJoinsCanHaveTheLastMessage) {
  Node& first = start("a");
  Node& second = start("b");
  JoinOptions last;
  last.last = true;
  PublishOptions to_all;  // the nodes have it, too, by then
  to_all.ack = Ack::members;
  for (const GroupMode mode : {GroupMode::best_effort, GroupMode::ordered}) {
    const GroupName name{std::string("g-") + to_string(mode), ""};
    wait(first.async_create(name, mode, use_future));
    Subscription early = wait(second.async_join(name, last, use_future));
    EXPECT_TRUE(std::holds_alternative<NoLast>(wait(early.async_receive(1, use_future)).at(0)));
    wait(first.async_publish(name, Payload("old"), {}, use_future));
    wait(first.async_publish(name, Payload("new"), to_all, use_future));
    for (Node* node : {&first, &second}) {
      Subscription late = wait(node->async_join(name, last, use_future));
      const auto told = std::get<Message>(wait(late.async_receive(1, use_future)).at(0));
      EXPECT_EQ(told.payload.view(), "new");
      EXPECT_TRUE(told.last);
      wait(first.async_publish(name, Payload("next"), {}, use_future));
      const auto then = std::get<Message>(wait(late.async_receive(1, use_future)).at(0));
      EXPECT_EQ(then.payload.view(), "next");
      EXPECT_FALSE(then.last);
      wait(first.async_publish(name, Payload("new"), to_all, use_future));
    }
  }
}

TEST_F(NodeTest, ConcurrentJoinsOfOneGroupAllComplete) {
  Node& node = start("a");
  std::vector<std::future<Subscription>> joins;
  for (int i = 0; i < 10; ++i) joins.push_back(node.async_join({"g", ""}, {}, use_future));
  std::vector<Subscription> subscriptions;
  for (auto& join : joins) subscriptions.push_back(wait(std::move(join)));
  EXPECT_EQ(wait(node.async_status(use_future)).subscriptions, 10U);
}

TEST_F(NodeTest, TellsOfRingRouteAndTree) {
  start("a");
  start("b");
  Node& third = start("c");
  const Ring ring = wait(third.async_ring(use_future));
  ASSERT_EQ(ring.peers.size(), 3U);
  EXPECT_TRUE(ring.complete);
  EXPECT_TRUE(ring.peers[0].id < ring.peers[1].id && ring.peers[1].id < ring.peers[2].id);
  const Route route = wait(third.async_route(Key::of("a"), use_future));
  ASSERT_EQ(route.hops.size(), 1U);
  EXPECT_EQ(route.hops[0].name, "a");
  EXPECT_TRUE(wait(third.async_route(Key::of("c"), use_future)).hops.empty());
  Subscription at_a = wait(nodes_[0]->async_join({"g", ""}, {}, use_future));
  Subscription at_b = wait(nodes_[1]->async_join({"g", ""}, {}, use_future));
  const Tree tree = wait(third.async_tree({"g", ""}, use_future));
  EXPECT_TRUE(tree.complete);
  std::size_t members = 0;
  for (const TreeNode& node : tree.nodes) members += node.member ? 1 : 0;
  EXPECT_EQ(members, 2U);
  EXPECT_FALSE(tree.nodes[0].parent.has_value());
}

TEST_F(NodeTest, AnycastReachesOneWillingMember) {
  Node& first = start("a");
  Node& second = start("b");
  EXPECT_EQ(error_of(first.async_anycast({"g", ""}, Payload("x"), {}, use_future)),
            errc::no_member);
  JoinOptions unwilling;
  unwilling.accept_anycast = false;
  Subscription no = wait(first.async_join({"g", ""}, unwilling, use_future));
  EXPECT_EQ(error_of(second.async_anycast({"g", ""}, Payload("x"), {}, use_future)),
            errc::no_member);
  Subscription yes = wait(second.async_join({"g", ""}, {}, use_future));
  const AnycastResult result = wait(first.async_anycast({"g", ""}, Payload("x"), {}, use_future));
  EXPECT_EQ(result.member.name, "b");
  const auto events = wait(yes.async_receive(1, use_future));
  EXPECT_TRUE(std::get<Message>(events.at(0)).anycast);
}

TEST_F(NodeTest, RefusesWhatCannotBe) {
  Node& node = start("a");
  EXPECT_EQ(error_of(node.async_join({"", ""}, {}, use_future)), errc::bad_name);
  EXPECT_EQ(error_of(node.async_join({std::string(256, 'x'), ""}, {}, use_future)), errc::bad_name);
  EXPECT_EQ(error_of(node.async_create({"new\nline", ""}, GroupMode::best_effort, use_future)),
            errc::bad_name);
  const Payload large(std::string((1U << 20) + 1, 'x'));
  EXPECT_EQ(error_of(node.async_publish({"g", ""}, large, {}, use_future)), errc::too_large);
  EXPECT_EQ(error_of(node.async_start(use_future)), errc::busy);
}

TEST_F(NodeTest, OperationsBeforeTheStartFailButStatusWorks) {
  Node& node = add(options("a"));
  EXPECT_EQ(error_of(node.async_create({"g", ""}, GroupMode::best_effort, use_future)),
            errc::not_active);
  EXPECT_EQ(wait(node.async_status(use_future)).state, NodeState::created);
}

TEST_F(NodeTest, AStartWithoutAnAnswerIsCancelledByStopping) {
  NodeOptions lonely = options("a");
  lonely.join = {"127.0.0.1:1"};
  Node& node = add(lonely);
  EXPECT_EQ(node.beginning(), Beginning::joins);
  std::future<void> started = node.async_start(use_future);
  EXPECT_EQ(wait(node.async_status(use_future)).state, NodeState::joining);
  wait(node.async_stop(use_future));
  EXPECT_EQ(error_of(std::move(started)), errc::shutting_down);
}

TEST_F(NodeTest, AnotherClusterEndsTheStartAndSaysWhy) {
  start("a");
  NodeOptions other = options("b");
  other.cluster = "elsewhere";
  Node& node = add(other);
  EXPECT_EQ(error_of(node.async_start(use_future)), errc::wrong_cluster);
  EXPECT_NE(node.failure().find("elsewhere"), std::string::npos) << node.failure();
  EXPECT_EQ(error_of(node.async_wait(use_future)), errc::wrong_cluster);
}

TEST_F(NodeTest, SaysWhyItCannotBeMade) {
  const auto complaint = [this](const NodeOptions& options) -> std::string {
    try {
      Node node(io_.get_executor(), options);
      return {};
    } catch (const StartError& error) {
      return error.what();
    }
  };
  EXPECT_NE(complaint({}).find("name"), std::string::npos);
  EXPECT_NE(complaint({.name = "a", .listen = "nowhere"}).find("HOST:PORT"), std::string::npos);
  EXPECT_NE(complaint({.name = "a", .digit_bits = 3}).find("3 bits"), std::string::npos);
  EXPECT_NE(complaint({.name = "a", .leaf_set_size = 3}).find("even"), std::string::npos);
  EXPECT_NE(complaint({.name = "a", .join = {"10.0.0.1"}}).find("10.0.0.1"), std::string::npos);
  NodeOptions slow{.name = "a"};
  slow.tuning.leaf_heartbeat = 5s;
  EXPECT_NE(complaint(slow).find("tuning.lease"), std::string::npos);
  NodeOptions crossed = slow;
  crossed.tuning = {};
  crossed.tuning.entry_probe_min = 2h;
  EXPECT_NE(complaint(crossed).find("tuning.entry_probe_min"), std::string::npos);
}

TEST_F(NodeTest, DestroyingItEndsWhatIsUnderWay) {
  Node& node = start("a");
  Subscription group = wait(node.async_join({"g", ""}, {}, use_future));
  std::future<std::vector<Event>> receive = group.async_receive(1, use_future);
  nodes_.clear();
  const std::vector<Event> events = wait(std::move(receive));
  EXPECT_EQ(std::get<Detached>(events.at(0)).reason, errc::shutting_down);
  EXPECT_EQ(error_of(group.async_receive(1, use_future)), errc::not_joined);
}

TEST_F(NodeTest, StoppingDetachesSubscriptionsAndRefusesMore) {
  Node& node = start("a");
  Subscription group = wait(node.async_join({"g", ""}, {}, use_future));
  std::future<void> stopped = node.async_wait(use_future);
  wait(node.async_stop(use_future));
  wait(std::move(stopped));
  const auto events = wait(group.async_receive(1, use_future));
  EXPECT_EQ(std::get<Detached>(events.at(0)).reason, errc::shutting_down);
  EXPECT_EQ(error_of(node.async_create({"g", ""}, GroupMode::best_effort, use_future)),
            errc::shutting_down);
  wait(node.async_stop(use_future));  // again: nothing to do
}

TEST_F(NodeTest, ACancelledJoinGivesTheMembershipUp) {
  Node& node = start("a");
  // The join may be faster than its cancellation; its subscription goes with the handler then.
  boost::asio::cancellation_signal cancel;
  std::promise<error_code> ended;
  node.async_join({"g", ""}, {},
                  boost::asio::bind_cancellation_slot(
                      cancel.slot(),
                      [&ended](error_code error, const Subscription&) { ended.set_value(error); }));
  cancel.emit(boost::asio::cancellation_type::total);
  const error_code error = wait(ended.get_future());
  EXPECT_TRUE(!error || error == errc::cancelled);
  while (wait(node.async_status(use_future)).subscriptions != 0) {
  }
}

TEST_F(NodeTest, AFullMailboxRefusesAndCounts) {
  NodeOptions small = options("a");
  small.mailbox_bytes_max = 1000;
  Node& node = add(small);
  wait(node.async_start(use_future));
  const Payload payload(std::string(2000, 'x'));
  EXPECT_EQ(error_of(node.async_publish({"g", ""}, payload, {}, use_future)), errc::queue_full);
  EXPECT_EQ(counter(node, "node.calls_refused"), 1U);
}

TEST_F(NodeTest, WhatSlowSubscribersLoseIsCounted) {
  Node& node = start("a");
  JoinOptions narrow;
  narrow.queue_messages_max = 1;
  Subscription group = wait(node.async_join({"g", ""}, narrow, use_future));
  for (int i = 0; i < 3; ++i) wait(node.async_publish({"g", ""}, Payload("x"), {}, use_future));
  EXPECT_EQ(counter(node, "node.messages_lost"), 2U);
  group.leave();
  EXPECT_EQ(counter(node, "node.messages_lost"), 2U);
}

TEST_F(NodeTest, ManyThreadsMayUseOneNode) {
  Node& node = start("a");
  Subscription group = wait(node.async_join({"g", ""}, {}, use_future));
  std::vector<std::thread> users;
  for (int t = 0; t < 4; ++t)
    users.emplace_back([&node] {
      for (int i = 0; i < 100; ++i)
        wait(node.async_publish({"g", ""}, Payload("x"), {}, use_future));
    });
  std::size_t received = 0;
  while (received < 400) received += wait(group.async_receive(64, use_future)).size();
  for (std::thread& user : users) user.join();
  EXPECT_EQ(received, 400U);
}

}  // namespace
}  // namespace canopy
