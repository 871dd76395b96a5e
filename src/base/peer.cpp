#include "base/peer.hpp"

#include <algorithm>
#include <utility>

namespace canopy {

PeerRef PeerTable::intern(PeerDescriptor descriptor) {
  const auto [first, last] = index_by_identity_.equal_range(descriptor.id);
  for (auto it = first; it != last; ++it) {
    if (slots_[it->second].descriptor == descriptor) return PeerRef(it->second);
  }
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
    ids_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  index_by_identity_.emplace(descriptor.id, index);
  ids_[index] = descriptor.id;
  slots_[index] = {std::move(descriptor), true};
  return PeerRef(index);
}

const PeerDescriptor& PeerTable::operator[](PeerRef ref) const {
  CANOPY_ASSERT(ref.index() < slots_.size() && slots_[ref.index()].used);
  return slots_[ref.index()].descriptor;
}

PeerRef PeerTable::find(const Id& id) const {
  PeerRef latest;
  const auto [first, last] = index_by_identity_.equal_range(id);
  for (auto it = first; it != last; ++it) {
    const PeerRef ref(it->second);
    if (!latest ||
        std::pair((*this)[latest].incarnation, latest) < std::pair((*this)[ref].incarnation, ref)) {
      latest = ref;
    }
  }
  return latest;
}

void PeerTable::sweep(std::span<const PeerRef> in_use) {
  std::vector<bool> keep(slots_.size(), false);
  for (const PeerRef ref : in_use) {
    if (ref) keep[ref.index()] = true;
  }
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    if (!slots_[index].used || keep[index]) continue;
    const auto [first, last] = index_by_identity_.equal_range(slots_[index].descriptor.id);
    index_by_identity_.erase(
        std::find_if(first, last, [index](const auto& entry) { return entry.second == index; }));
    slots_[index] = {};
    free_.push_back(index);
  }
}

}  // namespace canopy
