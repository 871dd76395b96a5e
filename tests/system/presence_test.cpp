// How many members there are, who comes and goes, and what was published last, as
// peers tell it that are killed for real.
#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "system/cluster.hpp"
#include "system/figures.hpp"

namespace canopy::system_test {
namespace {

constexpr std::size_t peers = 10;
const wire::GroupName news{"news", ""};

class PresenceTest : public testing::Test {
 protected:
  PresenceTest()
      : cluster_({"--digit-bits", "2", "--leaf-set", "4", "--scribe-child-refresh", "2s",
                  "--scribe-child-expiry", "6s"}) {}

  // Every daemon but the last three is a member, and all members watch.
  void start() {
    cluster_.start(peers);
    ASSERT_TRUE(cluster_.becomes_one_ring(seconds(20) * slowness)) << cluster_.logs();
    for (std::size_t i = 0; i + 3 < peers; ++i) {
      cluster_[i].client().send(
          control::Join{news, "", true, false},
          [this, i](const control::AnswerEnvelope& envelope) { take(i, envelope.answer); });
    }
    ASSERT_TRUE(becomes_right(peers - 3));
  }

  void take(std::size_t daemon, const control::Answer& answer) {
    const auto* presence = std::get_if<control::Presence>(&answer);
    if (!presence) return;
    shown_[daemon] = presence->members;
    for (const control::MemberName& name : presence->left) left_[daemon].push_back(name.name);
  }

  void kill(std::size_t daemon) {
    cluster_[daemon].process().signal(SIGKILL);
    dead_.push_back(daemon);
    shown_.erase(daemon);
  }

  bool is_dead(std::size_t daemon) const { return std::ranges::find(dead_, daemon) != dead_.end(); }

  // A daemon that is alive, and is not this one.
  Daemon& alive(std::optional<std::size_t> but = {}) {
    for (std::size_t i = peers; i-- > 0;)
      if (!is_dead(i) && i != but) return cluster_[i];
    throw std::runtime_error("nobody lives");
  }

  std::size_t index_of(const std::string& name) {
    for (std::size_t i = 0; i < peers; ++i)
      if (cluster_[i].name() == name) return i;
    throw std::runtime_error("no daemon " + name);
  }

  // The root, and who has children below it.
  std::size_t root() { return index_of(alive().tree("news").at(0).peer.name); }
  std::size_t forwarder() {
    const auto nodes = alive().tree("news");
    for (std::size_t n = 1; n < nodes.size(); ++n) {
      const bool parent =
          std::ranges::any_of(nodes, [n](const auto& node) { return node.parent == n; });
      if (parent) return index_of(nodes[n].peer.name);
    }
    return index_of(nodes.back().peer.name);  // a flat tree: a member then
  }

  // What the root counts, and what each watcher was told last.
  bool becomes_right(std::uint64_t members) {
    return cluster_.until(seconds(40) * slowness, [&] {
      const auto counted =
          alive().client().ask<control::MemberCount>(control::GetMembers{news}).at(0);
      return counted.members == members && counted.complete && shown_.size() == members &&
             std::ranges::all_of(shown_,
                                 [&](const auto& watcher) { return watcher.second == members; });
    });
  }
  std::string numbers() const {
    std::string text;
    for (const auto& [daemon, members] : shown_)
      text += std::to_string(daemon) + ": " + std::to_string(members) + "\n";
    return text;
  }

  // The first that a member gets who joins through this daemon.
  control::Answer first_of(Daemon& daemon) {
    control::Answer first;
    const std::uint64_t id = daemon.client().send(
        control::Join{news, "", false, true}, [&](const control::AnswerEnvelope& envelope) {
          const bool joined = std::holds_alternative<control::Joined>(envelope.answer);
          if (!joined && std::holds_alternative<std::monostate>(first)) first = envelope.answer;
        });
    cluster_.until(seconds(30) * slowness,
                   [&] { return !std::holds_alternative<std::monostate>(first); });
    daemon.client().cancel(id);
    daemon.client().forget(id);
    return first;
  }

  Cluster cluster_;
  std::map<std::size_t, std::uint64_t> shown_;  // by watching daemon
  std::map<std::size_t, std::vector<std::string>> left_;
  std::vector<std::size_t> dead_;
};

TEST_F(PresenceTest, NumbersBecomeTrueAgainWhoeverIsKilled) {
  start();
  std::uint64_t members = peers - 3;
  const auto strike = [&](std::size_t daemon, const char* what) {
    const bool member = shown_.contains(daemon);
    const std::string name = cluster_[daemon].name();
    const auto begin = std::chrono::steady_clock::now();
    kill(daemon);
    if (member) --members;
    EXPECT_TRUE(becomes_right(members)) << what << " " << name << "\n" << numbers();
    const auto time = std::chrono::steady_clock::now() - begin;
    std::cout << what << " killed: certain after " << std::chrono::duration<double>(time).count()
              << " s\n";
    if (std::string(what) != "member") return;
    const bool named = std::ranges::any_of(left_, [&](const auto& one) {
      return std::ranges::find(one.second, name) != one.second.end();
    });
    EXPECT_TRUE(named) << name << " is not said to have left";
  };
  std::size_t victim = 1;
  while (victim == root() || victim == forwarder()) ++victim;
  strike(victim, "member");
  strike(forwarder(), "forwarder");
  strike(root(), "root");
}

TEST_F(PresenceTest, TheLastMessageOutlivesTheRoot) {
  start();
  EXPECT_TRUE(std::holds_alternative<control::NoLast>(first_of(alive(root()))));
  for (const char* text : {"old", "new"}) {
    control::Publish publish{news, wire::AckMode::root, {}, {}};
    publish.content.payload = Buffer::copy_of(text);
    alive(root()).client().ask<control::Published>(publish);
  }
  const auto expect_new = [this](Daemon& daemon) {
    const control::Answer first = first_of(daemon);
    const auto* message = std::get_if<control::Message>(&first);
    ASSERT_TRUE(message) << daemon.name() << " has none";
    EXPECT_EQ(message->content.payload.view(), "new");
    EXPECT_TRUE(message->last);
  };
  expect_new(alive(root()));
  kill(root());
  expect_new(alive());  // at once
  kill(root());
  expect_new(alive());
}

}  // namespace
}  // namespace canopy::system_test
