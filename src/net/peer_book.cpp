#include "net/peer_book.hpp"

#include <limits>

#include "base/assert.hpp"

namespace canopy::net {

namespace {
constexpr std::size_t refs_max = 16;  // of one process; those beyond are looked up by its id
}

PeerEntry* PeerBook::cached(PeerRef peer) const noexcept {
  return peer.index() < by_ref_.size() ? by_ref_[peer.index()] : nullptr;
}

void PeerBook::name(PeerEntry& entry, PeerRef peer) {
  if (entry.refs.size() >= refs_max) return;
  if (peer.index() >= by_ref_.size()) by_ref_.resize(peer.index() + 1, nullptr);
  by_ref_[peer.index()] = &entry;
  entry.refs.push_back(peer);
}

PeerEntry* PeerBook::find(PeerRef peer) {
  if (PeerEntry* entry = cached(peer)) return entry;
  const PeerDescriptor& descriptor = peers_[peer];
  const auto found = entries_.find({descriptor.id, descriptor.incarnation});
  if (found == entries_.end()) return nullptr;
  name(*found->second, peer);
  return found->second.get();
}

PeerEntry& PeerBook::get(PeerRef peer) {
  if (PeerEntry* entry = find(peer)) return *entry;
  const PeerDescriptor& descriptor = peers_[peer];
  auto entry = std::make_unique<PeerEntry>(limits_, dropped_full_);
  entry->id = descriptor.id;
  entry->incarnation = descriptor.incarnation;
  name(*entry, peer);
  const Key key{entry->id, entry->incarnation};
  return *entries_.emplace(key, std::move(entry)).first->second;
}

PeerEntry* PeerBook::linked(const Id& id) const {
  auto it = entries_.upper_bound({id, std::numeric_limits<std::uint64_t>::max()});
  while (it != entries_.begin()) {
    --it;
    if (it->first.first != id) break;
    if (it->second->link) return it->second.get();
  }
  return nullptr;
}

std::vector<PeerEntry*> PeerBook::others(const PeerEntry& entry) const {
  std::vector<PeerEntry*> found;
  for (auto it = entries_.lower_bound({entry.id, 0});
       it != entries_.end() && it->first.first == entry.id; ++it) {
    if (it->second.get() != &entry) found.push_back(it->second.get());
  }
  return found;
}

void PeerBook::erase(PeerEntry& entry) {
  CANOPY_ASSERT(!entry.link && !entry.dial && !entry.greeting && !entry.challenge);
  for (const PeerRef peer : entry.refs) by_ref_[peer.index()] = nullptr;
  entries_.erase({entry.id, entry.incarnation});
}

}  // namespace canopy::net
