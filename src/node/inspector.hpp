// Answers people's questions about ring, routes and trees.
//
// On the overlay's thread. What it is given by reference must outlive it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <canopy/inspect.hpp>

#include "node/operation.hpp"
#include "node/tree_walk.hpp"
#include "scribe/overlay_peer.hpp"

namespace canopy::node {

class Inspector {
 public:
  struct Limits {
    std::size_t walk_peers_max = 100'000;  // that a walk visits
    Duration trace_time_max = std::chrono::seconds(3);
    Duration walk_time_max = std::chrono::seconds(30);
  };

  Inspector(scribe::OverlayPeer& peer, wire::Env& env, const Limits& limits);

  void ring(std::shared_ptr<Operation<Ring>> done);
  void route(const Id& key, std::shared_ptr<Operation<Route>> done);
  void tree(const wire::GroupName& group, scribe::TokenKey key,
            const std::shared_ptr<Operation<Tree>>& done);

  void collect_peers(std::vector<PeerRef>& in_use);

 private:
  static constexpr std::size_t tree_walks_max = 64;  // at a time

  scribe::OverlayPeer& peer_;
  wire::Env& env_;
  Limits limits_;
  std::vector<std::weak_ptr<TreeWalk>> tree_walks_;
};

}  // namespace canopy::node
