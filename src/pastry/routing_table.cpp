#include "pastry/routing_table.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace canopy::pastry {

namespace {

// Most tables hold a few dozen entries: growing by doubling would waste more
// than the entries themselves in a simulation of 100,000 of them.
constexpr std::size_t entries_growth = 8;

std::uint32_t order_of(unsigned row, unsigned column) noexcept { return row << 16 | column; }

std::uint32_t order_of(const RoutingTable::Entry& entry) noexcept {
  return order_of(entry.row, entry.column);
}

}  // namespace

RoutingTable::RoutingTable(const Id& self, unsigned b, const PeerTable& peers, std::string zone)
    : self_(self), b_(b), peers_(&peers), zone_(std::move(zone)) {
  CANOPY_ASSERT(b >= 1 && b <= 8);
}

RoutingTable::Slot RoutingTable::slot_of(const Id& id) const noexcept {
  const unsigned row = shared_prefix_length(self_, id, b_);
  CANOPY_ASSERT(row < Id::bits / b_);
  return {row, id.digit(row, b_)};
}

std::size_t RoutingTable::position(Slot slot) const noexcept {
  const auto at = std::partition_point(
      entries_.begin(), entries_.end(),
      [order = order_of(slot.row, slot.column)](const Entry& e) { return order_of(e) < order; });
  return static_cast<std::size_t>(at - entries_.begin());
}

bool RoutingTable::holds(std::size_t at, Slot slot) const noexcept {
  return at < entries_.size() && entries_[at].row == slot.row && entries_[at].column == slot.column;
}

bool RoutingTable::in_zone(PeerRef peer) const noexcept {
  return !zone_.empty() && (*peers_)[peer].zone == zone_;
}

bool RoutingTable::prefers_zone_of(PeerRef peer, const Id& id) const noexcept {
  if (id == self_ || !in_zone(peer)) return false;
  const PeerRef entry = at(slot_of(id));
  return entry && !in_zone(entry);
}

bool RoutingTable::better(const Entry& incumbent, PeerRef peer, const Id& id,
                          std::uint32_t distance_us) const noexcept {
  if (distance_us != unknown_distance && in_zone(peer) != in_zone(incumbent.peer)) {
    return in_zone(peer);
  }
  if (distance_us != incumbent.distance_us) return distance_us < incumbent.distance_us;
  return distance_us != unknown_distance && id < peers_->id(incumbent.peer);
}

bool RoutingTable::would_take(PeerRef peer, const Id& id,
                              std::uint32_t distance_us) const noexcept {
  if (id == self_) return false;
  const Slot slot = slot_of(id);
  const std::size_t at = position(slot);
  if (!holds(at, slot)) return true;
  return entries_[at].peer != peer && better(entries_[at], peer, id, distance_us);
}

bool RoutingTable::insert(PeerRef peer, const Id& id, std::uint32_t distance_us) {
  if (id == self_) return false;
  const Slot slot = slot_of(id);
  const std::size_t at = position(slot);
  if (!holds(at, slot)) {
    if (entries_.size() == entries_.capacity()) entries_.reserve(entries_.size() + entries_growth);
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at),
                    {peer, distance_us, static_cast<std::uint16_t>(slot.row),
                     static_cast<std::uint16_t>(slot.column)});
    return true;
  }
  Entry& entry = entries_[at];
  if (entry.peer == peer) {
    if (distance_us != unknown_distance) entry.distance_us = distance_us;
    return false;
  }
  if (peers_->id(entry.peer) != id && !better(entry, peer, id, distance_us)) return false;
  entry.peer = peer;
  entry.distance_us = distance_us;
  return true;
}

bool RoutingTable::remove(PeerRef peer, const Id& id) {
  if (id == self_) return false;
  const Slot slot = slot_of(id);
  const std::size_t at = position(slot);
  if (!holds(at, slot) || entries_[at].peer != peer) return false;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

PeerRef RoutingTable::at(unsigned row, unsigned column) const noexcept {
  const std::size_t at = position({row, column});
  return holds(at, {row, column}) ? entries_[at].peer : PeerRef();
}

std::uint32_t RoutingTable::distance_at(Slot slot) const noexcept {
  const std::size_t at = position(slot);
  return holds(at, slot) ? entries_[at].distance_us : unknown_distance;
}

PeerRef RoutingTable::towards(const Id& key) const noexcept {
  return key == self_ ? PeerRef() : at(slot_of(key));
}

bool RoutingTable::contains(PeerRef peer, const Id& id) const noexcept {
  return id != self_ && at(slot_of(id)) == peer;
}

std::span<const RoutingTable::Entry> RoutingTable::row(unsigned index) const noexcept {
  const std::size_t first = position({index, 0});
  const std::size_t last = position({index + 1, 0});
  return std::span(entries_).subspan(first, last - first);
}

std::vector<PeerRef> RoutingTable::closest_in_row(unsigned index, std::size_t count) const {
  const auto all = row(index);
  std::vector<Entry> closest(std::min(all.size(), count));
  std::partial_sort_copy(
      all.begin(), all.end(), closest.begin(), closest.end(), [](const Entry& a, const Entry& b) {
        return std::pair(a.distance_us, a.column) < std::pair(b.distance_us, b.column);
      });
  std::vector<PeerRef> peers;
  for (const Entry& entry : closest) peers.push_back(entry.peer);
  return peers;
}

}  // namespace canopy::pastry
