// An Env that keeps what is sent and lets the test set the time: for the parts
// of a node, each by itself.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pastry/node_state.hpp"

namespace canopy::pastry::test {

using namespace std::chrono_literals;

class Recorder final : public wire::Env {
 public:
  MonoTime now() const override { return time; }
  Random& random() override { return random_; }
  PeerTable& peers() override { return peers_; }
  void send(PeerRef to, wire::Message message) override { sent.emplace_back(to, message); }
  void wake_at(MonoTime deadline) override { wake = std::min(wake, deadline); }

  PeerRef peer(std::string_view hex, std::uint64_t incarnation = 1) {
    return peers_.intern({*Id::from_hex(hex), incarnation, std::string(hex), {}, 0, ""});
  }

  // The messages of this type, in the order of sending.
  template <typename Type>
  std::vector<std::pair<PeerRef, Type>> all() const {
    std::vector<std::pair<PeerRef, Type>> found;
    for (const auto& [to, message] : sent) {
      if (const Type* typed = std::get_if<Type>(&message)) found.emplace_back(to, *typed);
    }
    return found;
  }
  template <typename Type>
  Type last() const {
    return all<Type>().back().second;
  }
  template <typename Type>
  PeerRef last_receiver() const {
    return all<Type>().back().first;
  }

  MonoTime time{10s};
  MonoTime wake = never;
  std::vector<std::pair<PeerRef, wire::Message>> sent;

 private:
  Random random_{1};
  PeerTable peers_;
};

// A node 8000... with nothing in its sets.
struct Part {
  explicit Part(Config constants = {}) : config(std::move(constants)) {}

  // A leaf, heard from now.
  PeerRef leaf(std::string_view hex) {
    const PeerRef peer = env.peer(hex);
    state.leaves.insert(peer, state.id(peer));
    state.proximity.track(peer, env.time);
    return peer;
  }
  PeerRef entry(std::string_view hex, std::uint32_t distance_us = 1000) {
    const PeerRef peer = env.peer(hex);
    state.proximity.sample(peer, Duration(distance_us), env.time);
    state.table.insert(peer, state.id(peer), distance_us);
    return peer;
  }

  Config config;
  Recorder env;
  NodeState state{config, env.peer("80"), env};
};

}  // namespace canopy::pastry::test
