#include "pastry/inspection.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

namespace canopy::pastry {

namespace {

constexpr std::size_t traces_max = 256;

}  // namespace

std::uint32_t RouteTraces::begin(Duration deadline, PeersHandler handler) {
  if (open_.size() >= traces_max) {
    handler(make_error_code(errc::limit));
    return 0;
  }
  open_.push_back({state_.next_nonce(), state_.now() + deadline, std::move(handler)});
  return open_.back().nonce;
}

void RouteTraces::on_reply(const wire::RouteTraceReply& reply) {
  const auto at = std::find_if(open_.begin(), open_.end(),
                               [&](const Open& open) { return open.nonce == reply.nonce; });
  if (reply.nonce == 0 || at == open_.end()) return;
  const PeersHandler handler = std::move(at->handler);
  open_.erase(at);
  handler(reply.hops);
}

void RouteTraces::ended_here(std::uint32_t nonce, wire::Peers hops) {
  for (Open& open : open_) {
    if (open.nonce != nonce) continue;
    open.hops = std::move(hops);
    open.deadline = state_.now();
    return;
  }
}

void RouteTraces::tick() {
  const MonoTime now = state_.now();
  std::vector<Open> over;
  std::erase_if(open_, [&](const Open& open) {
    if (open.deadline > now) return false;
    over.push_back(open);
    return true;
  });
  for (const Open& open : over) {
    if (open.hops) {
      open.handler(*open.hops);
    } else {
      open.handler(make_error_code(errc::timed_out));
    }
  }
}

MonoTime RouteTraces::deadline() const noexcept {
  MonoTime earliest = never;
  for (const Open& open : open_) earliest = std::min(earliest, open.deadline);
  return earliest;
}

void RouteTraces::cancel_all() {
  for (const Open& open : std::exchange(open_, {})) {
    open.handler(make_error_code(errc::shutting_down));
  }
}

void RouteTraces::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Open& open : open_) {
    if (open.hops) in_use.insert(in_use.end(), open.hops->begin(), open.hops->end());
  }
}

RingWalk::RingWalk(NodeState& state, Duration deadline, PeersHandler handler)
    : state_(state),
      handler_(std::move(handler)),
      overall_deadline_(state.now() + deadline),
      deadline_(state.now()) {
  found_.push_back({Id(), state.self});
  for (const Leaf& leaf : state.leaves.all()) add(leaf.peer);
  if (!state.leaves.empty()) {
    reached_ = state.leaves.larger(state.leaves.side_size() - 1).id - state.self_id;
  }
}

bool RingWalk::add(PeerRef peer) {
  const Id offset = state_.id(peer) - state_.self_id;
  const auto at = std::partition_point(found_.begin(), found_.end(),
                                       [&](const Found& found) { return found.offset < offset; });
  if (at != found_.end() && at->offset == offset) return false;
  if (found_.size() >= state_.config.walk_peers_max) return false;
  found_.insert(at, {offset, peer});
  return true;
}

// The farthest peer within what is known without a gap, that has not been
// silent, knows best how it goes on.
void RingWalk::ask_next() {
  const auto beyond = std::partition_point(
      found_.begin(), found_.end(), [&](const Found& found) { return found.offset <= reached_; });
  for (auto at = beyond; at != found_.begin();) {
    --at;
    if (at->peer == state_.self) break;
    if (std::find(silent_.begin(), silent_.end(), at->peer) != silent_.end()) continue;
    asked_ = at->peer;
    nonce_ = state_.next_nonce();
    deadline_ = state_.now() + state_.config.probe_timeout;
    state_.send(asked_, wire::StateRequest{.nonce = nonce_});
    return;
  }
  // Alone, or nobody else answers.
  if (found_.size() == 1) {
    finish(wire::Peers{state_.self});
  } else {
    finish(make_error_code(errc::timed_out));
  }
}

bool RingWalk::on_state_reply(PeerRef from, const wire::StateReply& reply) {
  if (finished() || from != asked_ || reply.nonce != nonce_) return false;
  const Id base = state_.id(from);
  std::vector<Found> clockwise;  // from the peer that answers
  for (const PeerRef peer : reply.peers) {
    if (state_.id(peer) != base) clockwise.push_back({state_.id(peer) - base, peer});
  }
  std::sort(clockwise.begin(), clockwise.end(),
            [](const Found& a, const Found& b) { return a.offset < b.offset; });
  const bool whole_ring = clockwise.size() < state_.config.leaf_set_size;
  if (!whole_ring) clockwise.resize(state_.config.leaf_set_size / 2);

  const Id home = state_.self_id - base;  // the way that is left
  bool around = whole_ring;
  Id reached = base - state_.self_id;
  for (const Found& next : clockwise) {
    if (next.offset >= home) {
      around = true;
      if (!whole_ring) break;
    }
    add(next.peer);
    if (next.offset < home) reached = base + next.offset - state_.self_id;
  }
  const bool stuck = reached <= reached_ && from == asked_ && !around;
  reached_ = std::max(reached_, reached);
  if (around || found_.size() >= state_.config.walk_peers_max) {
    wire::Peers peers;
    peers.reserve(found_.size());
    for (const Found& found : found_) peers.push_back(found.peer);
    finish(std::move(peers));
  } else {
    if (stuck) silent_.push_back(from);
    ask_next();
  }
  return true;
}

void RingWalk::refused(PeerRef peer, std::uint32_t nonce) {
  if (!finished() && peer == asked_ && nonce == nonce_) give_up_on_asked();
}

void RingWalk::give_up_on_asked() {
  silent_.push_back(asked_);
  ask_next();
}

void RingWalk::tick() {
  const MonoTime now = state_.now();
  if (finished() || now < deadline()) return;
  if (now >= overall_deadline_) {
    finish(make_error_code(errc::timed_out));
  } else if (asked_) {
    give_up_on_asked();
  } else {
    ask_next();
  }
}

void RingWalk::cancel() {
  if (!finished()) finish(make_error_code(errc::shutting_down));
}

void RingWalk::finish(boost::system::result<wire::Peers> result) {
  deadline_ = overall_deadline_ = never;
  const PeersHandler handler = std::exchange(handler_, nullptr);
  handler(std::move(result));
}

void RingWalk::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Found& found : found_) in_use.push_back(found.peer);
  in_use.insert(in_use.end(), silent_.begin(), silent_.end());
}

}  // namespace canopy::pastry
