#include "scribe/lost_subtrees.hpp"

#include <algorithm>
#include <chrono>

#include "scribe/reach.hpp"

namespace canopy::scribe {

LostSubtrees::Subtree* LostSubtrees::find(PeerRef child) noexcept {
  const auto found = std::ranges::find_if(subtrees_, [child](const Subtree& subtree) {
    return subtree.peer == child && !subtree.of_old_root;
  });
  return found == subtrees_.end() ? nullptr : &*found;
}

const LostSubtrees::Subtree* LostSubtrees::find(PeerRef child) const noexcept {
  return const_cast<LostSubtrees*>(this)->find(child);
}

// Of two that are one, the longer and the more.
void LostSubtrees::keep(const Subtree& subtree) {
  Subtree* known = subtree.of_old_root ? nullptr : find(subtree.peer);
  const bool nameless = !known && subtrees_.size() >= named_max;
  if (nameless) known = find(PeerRef{});
  if (!known) {
    Subtree& added = subtrees_.emplace_back(subtree);
    if (nameless) added.peer = {};
    return;
  }
  known->up_to = std::max(known->up_to, subtree.up_to);
  known->until = std::max(known->until, subtree.until);
  if (!known->peer) known->count += subtree.count;
}

void LostSubtrees::lost(PeerRef child, MonoTime until) { keep({child, every_round, until}); }

void LostSubtrees::moved(PeerRef child, const wire::Position& since, MonoTime until) {
  if (Subtree* known = find(child)) {
    // It was lost, or has moved before and come back.
    known->up_to = known->up_to == every_round ? since : std::max(known->up_to, since);
    known->until = std::max(known->until, until);
    if (!known->up_to) settled(child);
  } else if (since) {
    keep({child, since, until});
  }
}

void LostSubtrees::settled(PeerRef child) noexcept {
  std::erase_if(subtrees_, [child](const Subtree& subtree) {
    return subtree.peer == child && child && !subtree.of_old_root;
  });
}

void LostSubtrees::bound(PeerRef child, const wire::Position& up_to) noexcept {
  if (Subtree* known = find(child)) known->up_to = std::min(known->up_to, up_to);
}

bool LostSubtrees::contains(PeerRef child, MonoTime now) const noexcept {
  const Subtree* known = find(child);
  return known && known->until > now;
}

void LostSubtrees::inherit(const std::vector<wire::LostSubtree>& left, MonoTime now,
                           MonoTime until) {
  for (const wire::LostSubtree& subtree : left) {
    const MonoTime its = now + std::chrono::milliseconds(subtree.for_ms);
    keep({subtree.peer, subtree.up_to, std::min(its, until), subtree.count});
  }
}

std::vector<wire::LostSubtree> LostSubtrees::legacy(MonoTime now) const {
  std::vector<wire::LostSubtree> left;
  for (const Subtree& subtree : subtrees_) {
    if (subtree.until <= now) continue;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(subtree.until - now).count();
    left.push_back({subtree.peer, subtree.up_to, static_cast<std::uint32_t>(ms), subtree.count});
  }
  return left;
}

void LostSubtrees::root_lost(PeerRef root, MonoTime until) {
  root_settled();
  keep({root, every_round, until, 1, true});
}

void LostSubtrees::root_settled() noexcept {
  std::erase_if(subtrees_, [](const Subtree& subtree) { return subtree.of_old_root; });
}

void LostSubtrees::add_to(wire::Reach& reach, const wire::Position& round, MonoTime now) const {
  for (const Subtree& subtree : subtrees_) {
    if (subtree.until <= now || round > subtree.up_to) continue;
    if (subtree.peer) {
      miss(reach, subtree.peer);
    } else {
      miss_unnamed(reach, subtree.count);
    }
  }
}

MonoTime LostSubtrees::missing_until(MonoTime now) const noexcept {
  MonoTime until{};
  for (const Subtree& subtree : subtrees_) {
    if (subtree.until > now && subtree.up_to == every_round) until = std::max(until, subtree.until);
  }
  return until;
}

void LostSubtrees::expire(MonoTime now) {
  std::erase_if(subtrees_, [now](const Subtree& subtree) { return subtree.until <= now; });
}

void LostSubtrees::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Subtree& subtree : subtrees_) {
    if (subtree.peer) in_use.push_back(subtree.peer);
  }
}

}  // namespace canopy::scribe
