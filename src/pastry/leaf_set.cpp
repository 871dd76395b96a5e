#include "pastry/leaf_set.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "pastry/planted_bug.hpp"

namespace canopy::pastry {

namespace {

// closer_to, where a tie may be broken wrongly on purpose.
bool nearer(const Id& key, const Id& a, const Id& b) noexcept {
  if (planted_bug == PlantedBug::tie_broken_wrongly) {
    const auto order = ring_distance(a, key) <=> ring_distance(b, key);
    return order != 0 ? order < 0 : b < a;
  }
  return closer_to(key, a, b);
}

}  // namespace

bool on_larger_half(const Id& self, const Id& id) noexcept {
  return (id - self).high64() >> 63 == 0;
}

LeafSet::LeafSet(const Id& self, unsigned size) : self_(self), capacity_(size) {
  CANOPY_ASSERT(size >= 2 && size % 2 == 0);
}

// Clockwise from the node come the larger ids, then the smaller ones.
std::size_t LeafSet::position(const Id& id) const noexcept {
  const bool smaller = id < self_;
  const auto at = std::partition_point(leaves_.begin(), leaves_.end(), [&](const Leaf& leaf) {
    return (leaf.id < self_) == smaller ? leaf.id < id : smaller;
  });
  return static_cast<std::size_t>(at - leaves_.begin());
}

bool LeafSet::insert(PeerRef peer, const Id& id) {
  if (id == self_) return false;
  const std::size_t at = position(id);
  if (at < leaves_.size() && leaves_[at].id == id) {
    if (leaves_[at].peer == peer) return false;
    leaves_[at].peer = peer;
    return true;
  }
  if (full() && at == capacity_ / 2) return false;
  if (full()) {
    // The outermost of the side that the newcomer joins leaves.
    const std::size_t out = at < capacity_ / 2 ? capacity_ / 2 - 1 : capacity_ / 2;
    leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(out));
    leaves_.insert(leaves_.begin() + static_cast<std::ptrdiff_t>(at > out ? at - 1 : at),
                   {id, peer});
    return true;
  }
  leaves_.insert(leaves_.begin() + static_cast<std::ptrdiff_t>(at), {id, peer});
  return true;
}

bool LeafSet::remove(PeerRef peer) {
  return std::erase_if(leaves_, [peer](const Leaf& leaf) { return leaf.peer == peer; }) != 0;
}

bool LeafSet::contains(PeerRef peer) const noexcept {
  return std::any_of(leaves_.begin(), leaves_.end(),
                     [peer](const Leaf& leaf) { return leaf.peer == peer; });
}

PeerRef LeafSet::find(const Id& id) const noexcept {
  const std::size_t at = position(id);
  return at < leaves_.size() && leaves_[at].id == id ? leaves_[at].peer : PeerRef();
}

bool LeafSet::would_take(const Id& id) const noexcept {
  if (id == self_) return false;
  const std::size_t at = position(id);
  if (at < leaves_.size() && leaves_[at].id == id) return false;
  return !full() || at != capacity_ / 2;
}

std::size_t LeafSet::side_size() const noexcept { return std::min(size(), capacity_ / 2); }

std::size_t LeafSet::short_side_size() const noexcept {
  const std::size_t half = capacity_ / 2;
  return size() > half ? size() - half : std::max<std::size_t>(size() / 2, 1);
}

const Leaf& LeafSet::larger(std::size_t i) const noexcept {
  CANOPY_ASSERT(i < side_size());
  return leaves_[i];
}

const Leaf& LeafSet::smaller(std::size_t i) const noexcept {
  CANOPY_ASSERT(i < side_size());
  return leaves_[leaves_.size() - 1 - i];
}

PeerRef LeafSet::left() const noexcept { return empty() ? PeerRef() : leaves_.back().peer; }

PeerRef LeafSet::right() const noexcept { return empty() ? PeerRef() : leaves_.front().peer; }

bool LeafSet::is_next(const Id& id) const noexcept {
  return leaves_.empty() || id - self_ <= leaves_.front().id - self_ ||
         self_ - id <= self_ - leaves_.back().id;
}

bool LeafSet::spans(const Id& key) const noexcept {
  std::size_t larger_count = capacity_ / 2;
  std::size_t smaller_count = capacity_ / 2;
  if (!full()) {
    const auto end_of_half =
        std::partition_point(leaves_.begin(), leaves_.end(),
                             [this](const Leaf& leaf) { return on_larger_half(self_, leaf.id); });
    const auto in_half = static_cast<std::size_t>(end_of_half - leaves_.begin());
    larger_count = std::min(in_half, larger_count);
    smaller_count = std::min(size() - in_half, smaller_count);
  }
  const Id& first = smaller_count == 0 ? self_ : leaves_[size() - smaller_count].id;
  const Id& last = larger_count == 0 ? self_ : leaves_[larger_count - 1].id;
  return key - first <= last - first;
}

bool Except::covers(const Leaf& peer, const Id& target) const noexcept {
  return (key && peer.id == target) ||
         std::find(peers.begin(), peers.end(), peer.peer) != peers.end();
}

PeerRef LeafSet::closest(const Id& key, const Except& except) const noexcept {
  PeerRef best;
  const Id* best_id = &self_;
  for (const Leaf& leaf : leaves_) {
    if (nearer(key, leaf.id, *best_id) && !except.covers(leaf, key)) {
      best = leaf.peer;
      best_id = &leaf.id;
    }
  }
  return best;
}

}  // namespace canopy::pastry
