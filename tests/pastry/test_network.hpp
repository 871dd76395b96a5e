// A small virtual network for tests of this layer: nodes on a plane, messages
// after half the round trip between them, in an order that depends on nothing
// but the seed. Messages can be lost, nodes can crash and hang.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pastry/pastry.hpp"

namespace canopy::pastry::test {

class TestNetwork;

// What one node's application saw.
struct Seen {
  std::vector<wire::Routed> delivered;
  std::vector<PeerRef> failed;
  std::vector<std::string> stalls;
  std::vector<PeerRef> superseded_by;
  unsigned activations = 0;
  unsigned leaf_set_changes = 0;
};

class TestNode final : public wire::Env, public Application {
 public:
  TestNode(TestNetwork& network, const Config& config, PeerRef ref, std::uint64_t seed);

  // wire::Env
  MonoTime now() const override;
  Random& random() override { return random_; }
  PeerTable& peers() override;
  void send(PeerRef to, wire::Message message) override;
  void wake_at(MonoTime deadline) override;

  // Application
  ForwardAction forward(PeerRef from, wire::Routed& message, PeerRef& next_hop) override {
    return on_forward ? on_forward(from, message, next_hop) : ForwardAction::proceed;
  }
  void deliver(PeerRef from, const wire::Routed& message) override;
  void leaf_set_changed() override { ++seen.leaf_set_changes; }
  void peer_failed(PeerRef peer) override { seen.failed.push_back(peer); }
  void activated() override { ++seen.activations; }
  void join_stalled(std::string_view reason) override { seen.stalls.emplace_back(reason); }
  void superseded(PeerRef by) override { seen.superseded_by.push_back(by); }

  Seen seen;
  std::function<ForwardAction(PeerRef, wire::Routed&, PeerRef&)> on_forward;
  std::unique_ptr<Pastry> pastry;
  bool crashed = false;
  bool hung = false;
  double x = 0;
  double y = 0;

 private:
  friend class TestNetwork;
  TestNetwork& network_;
  PeerRef ref_;
  Random random_;
  MonoTime wake_ = never;
  std::vector<std::pair<PeerRef, wire::Message>> backlog_;  // while it hangs
};

class TestNetwork {
 public:
  explicit TestNetwork(Config config, std::uint64_t seed = 1)
      : config_(std::move(config)), random_(seed) {}

  // A node that is neither in a ring nor joining yet.
  TestNode& add(const std::string& name, std::uint64_t incarnation = 1) {
    return add_at(Id::hash_of(name, config_.id_bits), name, incarnation);
  }
  TestNode& add_at(const Id& id, const std::string& name, std::uint64_t incarnation = 1) {
    const PeerRef ref = peers_.intern({id, incarnation, name, {}, 0, ""});
    auto node = std::make_unique<TestNode>(*this, config_, ref, random_.next());
    node->x = random_.unit() * plane_ms;
    node->y = random_.unit() * plane_ms;
    node->pastry = std::make_unique<Pastry>(config_, ref, *node, *node);
    auto& slot = nodes_[ref];
    slot = std::move(node);
    return *slot;
  }

  // A ring of so many nodes that joined one after the other.
  void grow(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      TestNode& node = add("node-" + std::to_string(nodes_.size()));
      if (nodes_.size() == 1) {
        node.pastry->found();
      } else {
        node.pastry->join({nodes_.begin()->first});
      }
      run_until([&] { return node.pastry->active(); }, std::chrono::seconds(60));
    }
  }

  bool step();
  void run_for(Duration span);
  // False if the condition does not come true in time.
  bool run_until(const std::function<bool()>& condition, Duration limit);

  void crash(TestNode& node) { node.crashed = true; }
  void hang(TestNode& node) { node.hung = true; }
  void resume(TestNode& node);

  // The live active nodes in id order.
  std::vector<TestNode*> ring() const;
  // Whether every one of them has exactly the leaf set that it should have.
  bool leaf_sets_exact() const;
  // The one that should deliver a key.
  TestNode* root_of(const Id& key) const;

  PeerTable& peers() { return peers_; }
  TestNode& node(PeerRef ref) { return *nodes_.at(ref); }
  std::map<PeerRef, std::unique_ptr<TestNode>>& nodes() { return nodes_; }
  MonoTime now() const { return now_; }

  double loss = 0;  // of every message
  double plane_ms = 50;
  // Messages that it wants to vanish: (from, to, message).
  std::function<bool(PeerRef, PeerRef, const wire::Message&)> censor;
  std::map<std::string, std::size_t> sent;  // by index of the message's type

 private:
  friend class TestNode;
  struct Event {
    PeerRef to;
    PeerRef from;  // empty: a tick
    wire::Message message;
  };

  void send(TestNode& from, PeerRef to, wire::Message message);
  void schedule(MonoTime at, Event event) { events_[{at, sequence_++}] = std::move(event); }
  void handle(TestNode& node, Event& event);

  Config config_;
  Random random_;
  PeerTable peers_;
  MonoTime now_{std::chrono::seconds(1)};
  std::uint64_t sequence_ = 0;
  std::map<std::pair<MonoTime, std::uint64_t>, Event> events_;
  std::map<PeerRef, std::unique_ptr<TestNode>> nodes_;
};

}  // namespace canopy::pastry::test
