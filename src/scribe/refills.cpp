#include "scribe/refills.hpp"

#include <algorithm>

namespace canopy::scribe {

void Refills::add(PeerRef peer, const wire::Position& after, const wire::Position& before) {
  const auto known = std::ranges::find(refills_, peer, &Refill::peer);
  if (known == refills_.end()) {
    refills_.push_back({peer, after, before});
  } else {
    known->cursor = after;
    if (!known->catches_up()) known->before = before;
  }
}

void Refills::remove(PeerRef peer) {
  std::erase_if(refills_, [peer](const Refill& refill) { return refill.peer == peer; });
}

bool Refills::catching_up(PeerRef peer) const noexcept {
  return std::ranges::any_of(refills_, [peer](const Refill& refill) {
    return refill.peer == peer && refill.catches_up();
  });
}

std::optional<wire::Position> Refills::uncovered(const wire::Position& base) const noexcept {
  std::optional<wire::Position> earliest;
  for (const Refill& refill : refills_) {
    if (refill.cursor < base && (!earliest || refill.cursor < *earliest)) earliest = refill.cursor;
  }
  return earliest;
}

void Refills::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Refill& refill : refills_) in_use.push_back(refill.peer);
}

}  // namespace canopy::scribe
