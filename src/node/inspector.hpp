// Answers people's questions about ring, routes and trees.
//
// On the overlay's thread. What it is given by reference must outlive it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <canopy/inspect.hpp>

#include "node/operation.hpp"
#include "node/questions.hpp"
#include "node/ring_walk.hpp"
#include "node/tree_walk.hpp"
#include "scribe/overlay_peer.hpp"

namespace canopy::node {

class Inspector {
 public:
  struct Limits {
    std::size_t peers_max = 100'000;  // a walk visits
    Duration answer_time_max = std::chrono::seconds(5);
  };

  Inspector(scribe::OverlayPeer& peer, wire::Env& env, TimerQueue& timers, const Limits& limits);

  void ring(std::shared_ptr<Operation<Ring>> done);
  void route(const Id& key, std::shared_ptr<Operation<Route>> done);
  void tree(const wire::GroupName& group, std::shared_ptr<Operation<Tree>> done);

  // True if the message was an answer to a question asked here.
  bool offer(const wire::Message& message) { return questions_.offer(message); }

  void collect_peers(std::vector<PeerRef>& in_use);

 private:
  static constexpr std::size_t walks_max = 64;  // at a time
  static constexpr unsigned traces_max = 2;     // a lost one is tried again

  using Traced = std::function<void(boost::system::error_code, const wire::Peers& hops)>;
  void trace(const Id& key, unsigned tries, Traced traced);

  scribe::OverlayPeer& peer_;
  wire::Env& env_;
  Limits limits_;
  Questions questions_;
  std::vector<std::weak_ptr<RingWalk>> ring_walks_;
  std::vector<std::weak_ptr<TreeWalk>> tree_walks_;
};

}  // namespace canopy::node
