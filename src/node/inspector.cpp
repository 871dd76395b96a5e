#include "node/inspector.hpp"

#include <utility>

#include <canopy/error.hpp>

#include "node/values.hpp"

namespace canopy::node {
namespace {

template <class Walk>
void forget_ended(std::vector<std::weak_ptr<Walk>>& walks) {
  std::erase_if(walks, [](const auto& walk) { return walk.expired(); });
}

}  // namespace

Inspector::Inspector(scribe::OverlayPeer& peer, wire::Env& env, TimerQueue& timers,
                     const Limits& limits)
    : peer_(peer), env_(env), limits_(limits), questions_(env, timers, limits.answer_time_max) {}

void Inspector::ring(std::shared_ptr<Operation<Ring>> done) {
  forget_ended(ring_walks_);
  if (ring_walks_.size() >= walks_max) return done->fail(errc::limit);
  auto walk = std::make_shared<RingWalk>(peer_.pastry(), env_, questions_, limits_.peers_max,
                                         std::move(done));
  ring_walks_.push_back(walk);
  walk->start();
}

void Inspector::route(const Id& key, std::shared_ptr<Operation<Route>> done) {
  trace(key, traces_max,
        [this, key, done](boost::system::error_code error, const wire::Peers& hops) {
          if (error) return done->fail(error);
          Route route;
          route.key = to_key(key);
          for (PeerRef hop : hops) route.hops.push_back(to_peer_info(env_.peers()[hop]));
          done->complete({}, std::move(route));
        });
}

void Inspector::tree(const wire::GroupName& group, std::shared_ptr<Operation<Tree>> done) {
  forget_ended(tree_walks_);
  if (tree_walks_.size() >= walks_max) return done->fail(errc::limit);
  auto walk = std::make_shared<TreeWalk>(peer_.scribe(), env_, group, limits_.peers_max, done);
  tree_walks_.push_back(walk);
  trace(scribe::group_id(group, Id::bits), traces_max,
        [this, walk, done](boost::system::error_code error, const wire::Peers& hops) {
          if (error) return done->fail(error);
          walk->start(hops.empty() ? peer_.pastry().self() : hops.back());
        });
}

void Inspector::trace(const Id& key, unsigned tries, Traced traced) {
  if (peer_.pastry().is_root(key)) return traced({}, {});
  wire::RouteTrace question;
  question.origin = peer_.pastry().self();
  question.nonce = questions_.expect_trace(
      [this, key, tries, traced = std::move(traced)](const wire::RouteTraceReply* reply) {
        if (reply) return traced({}, reply->hops);
        if (tries > 1) return trace(key, tries - 1, traced);
        traced(errc::timed_out, {});
      });
  peer_.pastry().route(key, question);
}

void Inspector::collect_peers(std::vector<PeerRef>& in_use) {
  forget_ended(ring_walks_);
  forget_ended(tree_walks_);
  for (const auto& walk : ring_walks_) walk.lock()->collect_peers(in_use);
  for (const auto& walk : tree_walks_) walk.lock()->collect_peers(in_use);
}

}  // namespace canopy::node
