#include "node/ring_walk.hpp"

#include <algorithm>
#include <utility>

#include "node/values.hpp"

namespace canopy::node {

RingWalk::RingWalk(const pastry::Pastry& pastry, wire::Env& env, Questions& questions,
                   std::size_t peers_max, std::shared_ptr<Done> done)
    : pastry_(pastry),
      env_(env),
      questions_(questions),
      peers_max_(peers_max),
      done_(std::move(done)),
      self_(env.peers().id(pastry.self())) {}

void RingWalk::start() {
  seen_.emplace(self_, pastry_.self());
  wire::Peers leaves;
  for (const pastry::Leaf& leaf : pastry_.leaf_set().all()) leaves.push_back(leaf.peer);
  advance(self_, leaves);
}

void RingWalk::advance(const Id& center, const wire::Peers& leaves) {
  const PeerTable& peers = env_.peers();
  wire::Peers clockwise;
  for (PeerRef leaf : leaves) {
    const Id& id = peers.id(leaf);
    seen_.try_emplace(id, leaf);
    if (id != center) clockwise.push_back(leaf);
  }
  std::sort(clockwise.begin(), clockwise.end(),
            [&](PeerRef a, PeerRef b) { return peers.id(a) - center < peers.id(b) - center; });
  // A leaf set that is not full holds the whole ring, unless it is under repair.
  const std::size_t half = pastry_.config().leaf_set_size / 2;
  if (clockwise.size() < 2 * half && seen_.size() <= clockwise.size() + 1) return finish(true);
  clockwise.resize(std::min(half, clockwise.size()));
  // From the center on, its clockwise leaves lie side by side; behind this node is the start.
  if (center != self_ && !clockwise.empty() &&
      peers.id(clockwise.back()) - center >= self_ - center)
    return finish(true);
  if (seen_.size() >= peers_max_) return finish(false);
  ahead_ = std::move(clockwise);
  ask_next();
}

void RingWalk::ask_next() {
  if (done_->claimed()) return;  // cancelled
  if (ahead_.empty() || failures_ == failures_max) return finish(false);
  const PeerRef peer = ahead_.back();
  ahead_.pop_back();
  const Id center = env_.peers().id(peer);
  questions_.leaf_set_of(peer, [self = shared_from_this(), center](const wire::StateReply* reply) {
    if (reply) {
      self->failures_ = 0;
      self->advance(center, reply->peers);
    } else {
      ++self->failures_;
      self->seen_.erase(center);
      self->ask_next();
    }
  });
}

void RingWalk::finish(bool complete) {
  Ring ring;
  ring.complete = complete;
  ring.peers.reserve(seen_.size());
  for (const auto& [id, peer] : seen_) ring.peers.push_back(to_peer_info(env_.peers()[peer]));
  done_->complete({}, std::move(ring));
}

void RingWalk::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [id, peer] : seen_) in_use.push_back(peer);
  in_use.insert(in_use.end(), ahead_.begin(), ahead_.end());
}

}  // namespace canopy::node
