#include "scribe/children_table.hpp"

#include <algorithm>

namespace canopy::scribe {

namespace {

constexpr std::uint32_t tenths_mask = (std::uint32_t{1} << 27) - 1;

std::uint32_t tenths_of_second(MonoTime time) noexcept {
  constexpr std::int64_t tenth_us = 100'000;
  return static_cast<std::uint32_t>(time.time_since_epoch().count() / tenth_us) & tenths_mask;
}

}  // namespace

Child* ChildrenTable::find(PeerRef peer) noexcept {
  const auto found = std::ranges::find(children_, peer, &Child::peer);
  return found == children_.end() ? nullptr : &*found;
}

const Child* ChildrenTable::find(PeerRef peer) const noexcept {
  const auto found = std::ranges::find(children_, peer, &Child::peer);
  return found == children_.end() ? nullptr : &*found;
}

Child& ChildrenTable::adopt(PeerRef peer, std::uint32_t nonce, MonoTime now) {
  Child* child = find(peer);
  if (!child) {
    child = &children_.emplace_back();
    child->peer = peer;
    child->nonce = nonce;
  }
  if (!earlier(nonce, child->nonce)) {
    child->nonce = nonce;
    child->adopted_ds = tenths_of_second(now) & tenths_mask;
  }
  return *child;
}

bool ChildrenTable::remove(PeerRef peer) noexcept {
  const auto found = std::ranges::find(children_, peer, &Child::peer);
  if (found == children_.end()) return false;
  children_.erase(found);
  return true;
}

Duration ChildrenTable::age(const Child& child, MonoTime now) noexcept {
  const std::uint32_t tenths = (tenths_of_second(now) - child.adopted_ds) & tenths_mask;
  return std::chrono::milliseconds(std::int64_t{tenths} * 100);
}

wire::Peers ChildrenTable::peers() const {
  wire::Peers peers;
  peers.reserve(children_.size());
  for (const Child& child : children_) peers.push_back(child.peer);
  return peers;
}

}  // namespace canopy::scribe
