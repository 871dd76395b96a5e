#include "scribe/group.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"

namespace canopy::scribe {

namespace {

bool contains(const wire::Peers& path, PeerRef peer) noexcept {
  return std::ranges::find(path, peer) != path.end();
}

}  // namespace

bool Group::on_root_path(PeerRef peer) const noexcept { return contains(root_path_, peer); }

wire::Peers Group::path_below(PeerRef self, std::size_t max) const {
  CANOPY_ASSERT(max > 0);
  const std::size_t kept = std::min(root_path_.size(), max - 1);
  wire::Peers path(root_path_.end() - static_cast<std::ptrdiff_t>(kept), root_path_.end());
  path.push_back(self);
  return path;
}

void Group::begin_join(std::uint32_t nonce, Way way) noexcept {
  CANOPY_ASSERT(!parent_);
  standing_ = Standing::joining;
  join_nonce_ = nonce;
  join_attempts_ = 0;
  way_ = way;
  refused_for_want_of_room = 0;
}

void Group::join_sent() noexcept {
  if (join_attempts_ < std::numeric_limits<std::uint8_t>::max()) ++join_attempts_;
}

AckVerdict Group::on_join_ack(PeerRef from, std::uint32_t nonce, const wire::Peers& path,
                              PeerRef self) {
  if (standing_ == Standing::attached && from == parent_) {
    switch (on_root_path(from, path, self)) {
      case PathVerdict::loop: return AckVerdict::loop;
      case PathVerdict::changed: return AckVerdict::path_changed;
      default: return AckVerdict::unchanged;
    }
  }
  if (standing_ != Standing::joining || nonce != join_nonce_) return AckVerdict::surplus;
  if (contains(path, self)) return AckVerdict::loop;
  standing_ = Standing::attached;
  been_in_tree_ = true;
  seen_since_attached_ = 0;
  parent_ = from;
  root_path_ = path;
  return AckVerdict::attached;
}

PathVerdict Group::on_root_path(PeerRef from, const wire::Peers& path, PeerRef self) {
  if (standing_ != Standing::attached || from != parent_) return PathVerdict::ignored;
  if (contains(path, self)) return PathVerdict::loop;
  if (path == root_path_) return PathVerdict::unchanged;
  root_path_ = path;
  return PathVerdict::changed;
}

void Group::lose_parent() noexcept {
  if (parent_) owe_leave_to(parent_);
  parent_ = {};
  if (standing_ == Standing::attached) standing_ = Standing::joining;
}

void Group::owe_leave_to(PeerRef peer) noexcept {
  former_parent_ = peer;
  former_parent_told_ = false;
}

PeerRef Group::take_untold_parent() noexcept {
  const PeerRef former = untold_parent();
  former_parent_told_ = true;
  return former;
}

void Group::drop_parent() noexcept {
  parent_ = {};
  if (standing_ == Standing::attached) standing_ = Standing::joining;
}

void Group::ask(PeerRef candidate, std::uint32_t nonce) noexcept {
  candidate_ = candidate;
  candidate_nonce_ = nonce;
}

bool Group::asked(PeerRef peer, std::uint32_t nonce) const noexcept {
  return candidate_ && candidate_ == peer && candidate_nonce_ == nonce;
}

SenderVerdict Group::judge(PeerRef sender, MonoTime now) const noexcept {
  if (parent_ && sender == parent_) return SenderVerdict::parent;
  // Its JoinAck may be on the way still.
  if (candidate_ && sender == candidate_) return SenderVerdict::tolerated;
  if (standing_ == Standing::attached || standing_ == Standing::root) {
    const bool former = former_welcome_until_ > now && sender == former_parent_;
    return former ? SenderVerdict::tolerated : SenderVerdict::stray;
  }
  // Whoever sends may be the parent of a moment ago, one whose JoinAck got
  // lost, or the peer that takes the root over.
  return SenderVerdict::tolerated;
}

bool Group::first_sight(const wire::MessageId& id, std::size_t window) {
  if (!seen_) seen_ = std::make_unique<DuplicateWindow>();
  const bool fresh = seen_->insert(id, window, member);
  if (fresh && seen_since_attached_ < std::numeric_limits<std::uint32_t>::max()) {
    ++seen_since_attached_;
  }
  return fresh;
}

void Group::collect_peers(std::vector<PeerRef>& in_use) const {
  in_use.insert(in_use.end(), root_path_.begin(), root_path_.end());
  for (const Child& child : children) in_use.push_back(child.peer);
  if (parent_) in_use.push_back(parent_);
  if (former_parent_) in_use.push_back(former_parent_);
  if (candidate_) in_use.push_back(candidate_);
  if (left_parent) in_use.push_back(left_parent);
  if (lost) lost->collect_peers(in_use);
  if (order) {
    order->stream.collect_peers(in_use);
    order->refills.collect_peers(in_use);
    order->waiting.collect_peers(in_use);
  }
}

void Group::become(Standing standing) noexcept {
  CANOPY_ASSERT(!parent_);
  if (!root_role()) seen_since_attached_ = 0;  // what the old root still sends comes late
  standing_ = standing;
  been_in_tree_ |= serves_as_root();
  candidate_ = {};
  root_path_.clear();
}

}  // namespace canopy::scribe
