#include "scribe/tracked_round.hpp"

namespace canopy::scribe {

void TrackedRound::has_it(PeerRef child, bool has) {
  if (!has) {
    std::erase(have_it_, child);
  } else if (awaits(child) && !contains(have_it_, child)) {
    have_it_.push_back(child);
  }
}

void TrackedRound::answered(PeerRef child) {
  std::erase(awaited_, child);
  std::erase(have_it_, child);
}

void TrackedRound::give_up(PeerRef child) {
  miss(reach, child);
  answered(child);
}

void TrackedRound::ask(PeerRef asker) {
  if (!asker || contains(askers_, asker) || askers_.size() == askers_max) return;
  askers_.push_back(asker);
}

bool TrackedRound::count_once(PeerRef child) {
  if (contains(counted_, child)) return false;
  counted_.push_back(child);
  return true;
}

wire::Reach TrackedRound::reach_for(PeerRef asker) const {
  wire::Reach told = reach;
  if (askers_.empty() || asker != askers_.front()) told.members = 0;
  return told;
}

void TrackedRound::note_lost(const wire::Reach& now) {
  for (const PeerRef peer : now.unreachable) miss(lost, peer);
  lost.more = std::max(lost.more, now.more);
}

void TrackedRound::finish() {
  for (const PeerRef peer : lost.unreachable) miss(reach, peer);
  miss_unnamed(reach, lost.more);
  reach.complete = nothing_missed(reach);
  message_.body = {};
  have_it_ = counted_ = {};
  done_ = true;
}

}  // namespace canopy::scribe
