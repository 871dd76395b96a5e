#include "scribe/root_registry.hpp"

#include <algorithm>
#include <tuple>

#include "base/mix.hpp"
#include "scribe/access.hpp"

namespace canopy::scribe {

void ReplicaSet::add(const wire::GroupState& state) noexcept {
  const std::uint64_t version = state.version ^ mark_of(state.access);
  hash += mix64(state.group.high64() ^ mix64(state.epoch ^ mix64(version)));
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
    record->state = merged(record->state, state);
  }
  record->state.closed = {};  // said of a handover, not of the group
  record->touched = now;
  if (!record->state.deleted()) {
    record->forget_at = never;
  } else if (record->forget_at == never) {
    const Duration left = std::chrono::milliseconds(record->state.deleted_for_ms);
    record->forget_at = now + std::min(left, deletion_memory_);
  }
  record->state.deleted_for_ms = 0;
  return record;
}

wire::GroupState RootRegistry::told(const RootRecord& record, MonoTime now) {
  wire::GroupState state = record.state;
  if (state.deleted() && record.forget_at > now) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(record.forget_at - now);
    state.deleted_for_ms = static_cast<std::uint32_t>(left.count());
  }
  return state;
}

std::vector<Id> RootRegistry::expired(MonoTime untouched_since, MonoTime now) const {
  std::vector<Id> ids;
  for (const auto& [id, record] : records_) {
    if (record.own || !record.offered) continue;
    const bool over =
        record.state.deleted() ? record.forget_at <= now : record.touched < untouched_since;
    if (over) ids.push_back(id);
  }
  return ids;
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
    if (!record.own && record.root == root && !record.state.deleted()) set.add(record.state);
  }
  return set;
}

void RootRegistry::touch_replicas(PeerRef root, MonoTime now) {
  for (auto& [id, record] : records_) {
    if (record.own || record.root != root) continue;
    record.touched = now;
    record.rootless = false;  // it was given up wrongly
  }
}

void RootRegistry::disown_replicas(PeerRef root) {
  for (auto& [id, record] : records_) {
    if (record.root == root) record.root = {};
  }
}

void RootRegistry::root_gone(PeerRef root) {
  for (auto& [id, record] : records_) {
    if (!record.own && record.root == root) record.rootless = true;
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
  const auto number = [](const wire::GroupState& state) {
    return std::tie(state.life, state.epoch, state.version);
  };
  if (number(a) != number(b)) return number(a) > number(b);
  return std::tie(a.name.name, a.name.creator) < std::tie(b.name.name, b.name.creator);
}

wire::GroupState merged(const wire::GroupState& a, const wire::GroupState& b) {
  wire::GroupState state = supersedes(b, a) ? b : a;
  if (a.name != b.name) return state;
  state.epoch = std::max(a.epoch, b.epoch);
  if (a.life != b.life) return state;
  state.mode = std::max(a.mode, b.mode);
  state.created = a.created || b.created;
  state.access = merged(a.access, b.access);
  return state;
}

std::string lost_between(const wire::GroupState& a, const wire::GroupState& b,
                         const wire::GroupState& kept) {
  if (a.name != b.name) return "another group, whose id is the same";
  if (a.life != b.life) return "the group as it was before the other root deleted it";
  std::string lost;
  if (a.mode != b.mode) lost = "that it is best-effort";
  const std::uint64_t mark = mark_of(kept.access);
  if (mark != mark_of(a.access) && mark != mark_of(b.access)) {
    lost += lost.empty() ? "" : ", ";
    lost += "rights that only one of two access lists gave";
  }
  return lost;
}

}  // namespace canopy::scribe
