#include "scribe/root_registry.hpp"

#include <algorithm>
#include <tuple>

#include "scribe/mix.hpp"

namespace canopy::scribe {

void ReplicaSet::add(const wire::GroupState& state) noexcept {
  hash += mix64(state.group.high64() ^ mix64(state.epoch ^ mix64(state.version)));
  ++count;
}

RootRecord* RootRegistry::find(const Id& group) {
  const auto found = records_.find(group);
  return found == records_.end() ? nullptr : &found->second;
}

const RootRecord* RootRegistry::find(const Id& group) const {
  const auto found = records_.find(group);
  return found == records_.end() ? nullptr : &found->second;
}

RootRecord* RootRegistry::merge(const wire::GroupState& state, MonoTime now) {
  RootRecord* record = find(state.group);
  if (!record) {
    if (records_.size() >= states_max_) return nullptr;
    record = &records_[state.group];
    record->state = state;
  } else {
    const wire::GroupMode stricter = std::max(state.mode, record->state.mode);
    if (supersedes(state, record->state)) record->state = state;
    if (state.name == record->state.name) record->state.mode = stricter;
  }
  record->state.closed = {};  // said of a handover, not of the group
  record->touched = now;
  return record;
}

std::size_t RootRegistry::expire_replicas(MonoTime untouched_since) {
  return std::erase_if(records_, [&](const auto& entry) {
    return !entry.second.own && entry.second.touched < untouched_since;
  });
}

std::map<PeerRef, ReplicaSet> RootRegistry::confirmed() const {
  std::map<PeerRef, ReplicaSet> sets;
  for (const auto& [id, record] : records_) {
    if (!record.own) continue;
    for (const RootRecord::Holder& holder : record.holders) {
      if (holds(record, holder.peer)) sets[holder.peer].add(record.state);
    }
  }
  return sets;
}

void RootRegistry::forget_holder(PeerRef holder) {
  for (auto& [id, record] : records_) {
    std::erase_if(record.holders, [holder](const auto& known) { return known.peer == holder; });
  }
}

ReplicaSet RootRegistry::replicas_of(PeerRef root) const {
  ReplicaSet set;
  for (const auto& [id, record] : records_) {
    if (!record.own && record.root == root) set.add(record.state);
  }
  return set;
}

void RootRegistry::touch_replicas(PeerRef root, MonoTime now) {
  for (auto& [id, record] : records_) {
    if (!record.own && record.root == root) record.touched = now;
  }
}

void RootRegistry::disown_replicas(PeerRef root) {
  for (auto& [id, record] : records_) {
    if (record.root == root) record.root = {};
  }
}

bool RootRegistry::holds(const RootRecord& record, PeerRef peer) noexcept {
  return std::ranges::any_of(record.holders, [&](const RootRecord::Holder& holder) {
    return holder.peer == peer && holder.epoch == record.state.epoch &&
           holder.version == record.state.version;
  });
}

void RootRegistry::confirm(RootRecord& record, PeerRef peer, std::uint64_t epoch,
                           std::uint64_t version) {
  const auto found = std::ranges::find(record.holders, peer, &RootRecord::Holder::peer);
  if (found == record.holders.end()) {
    record.holders.push_back({peer, epoch, version});
  } else {
    *found = {peer, epoch, version};
  }
}

bool supersedes(const wire::GroupState& a, const wire::GroupState& b) {
  if (std::tie(a.epoch, a.version) != std::tie(b.epoch, b.version)) {
    return std::tie(a.epoch, a.version) > std::tie(b.epoch, b.version);
  }
  return std::tie(a.name.name, a.name.creator) < std::tie(b.name.name, b.name.creator);
}

}  // namespace canopy::scribe
