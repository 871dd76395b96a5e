#include "node/inspector.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

#include "node/values.hpp"

namespace canopy::node {
namespace {

std::vector<PeerInfo> infos(const PeerTable& table, const wire::Peers& peers) {
  std::vector<PeerInfo> result;
  result.reserve(peers.size());
  for (PeerRef peer : peers) result.push_back(to_peer_info(table[peer]));
  return result;
}

}  // namespace

Inspector::Inspector(scribe::OverlayPeer& peer, wire::Env& env, const Limits& limits)
    : peer_(peer), env_(env), limits_(limits) {}

void Inspector::ring(std::shared_ptr<Operation<Ring>> done) {
  peer_.pastry().walk_ring(
      limits_.walk_time_max,
      [this, done = std::move(done)](const boost::system::result<wire::Peers>& peers) {
        if (!peers) return done->fail(peers.error());
        Ring ring;
        ring.complete = peers->size() < peer_.pastry().config().walk_peers_max;
        ring.peers = infos(env_.peers(), *peers);
        std::sort(ring.peers.begin(), ring.peers.end(),
                  [](const PeerInfo& a, const PeerInfo& b) { return a.id < b.id; });
        done->complete({}, std::move(ring));
      });
}

void Inspector::route(const Id& key, std::shared_ptr<Operation<Route>> done) {
  peer_.pastry().trace(
      key, limits_.trace_time_max,
      [this, key, done = std::move(done)](const boost::system::result<wire::Peers>& hops) {
        if (!hops) return done->fail(hops.error());
        done->complete({}, Route{to_key(key), infos(env_.peers(), *hops)});
      });
}

void Inspector::tree(const wire::GroupName& group, scribe::TokenKey key,
                     const std::shared_ptr<Operation<Tree>>& done) {
  std::erase_if(tree_walks_, [](const auto& walk) { return walk.expired(); });
  if (tree_walks_.size() >= tree_walks_max) return done->fail(errc::limit);
  auto walk = std::make_shared<TreeWalk>(peer_.scribe(), env_, group, std::move(key),
                                         limits_.walk_peers_max, done);
  tree_walks_.push_back(walk);
  peer_.pastry().trace(scribe::group_id(group, Id::bits), limits_.trace_time_max,
                       [this, walk, done](const boost::system::result<wire::Peers>& hops) {
                         if (!hops) return done->fail(hops.error());
                         walk->start(hops->empty() ? peer_.pastry().self() : hops->back());
                       });
}

void Inspector::collect_peers(std::vector<PeerRef>& in_use) {
  for (const auto& walk : tree_walks_)
    if (auto alive = walk.lock()) alive->collect_peers(in_use);
}

}  // namespace canopy::node
