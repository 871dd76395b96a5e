#include "scribe/publish_table.hpp"

namespace canopy::scribe {

void PublishTable::add(std::uint64_t sequence, PendingPublish publish, MonoTime look_at) {
  room_.take(publish.message.body.size());
  pending_.emplace(sequence, std::move(publish));
  timers_.schedule(sequence, look_at);
}

PendingPublish* PublishTable::find(std::uint64_t sequence) {
  const auto found = pending_.find(sequence);
  return found == pending_.end() ? nullptr : &found->second;
}

std::optional<PendingPublish> PublishTable::take(std::uint64_t sequence) {
  const auto found = pending_.find(sequence);
  if (found == pending_.end()) return std::nullopt;
  PendingPublish publish = std::move(found->second);
  pending_.erase(found);
  room_.give_back(publish.message.body.size());
  timers_.cancel(sequence);
  return publish;
}

std::uint64_t PublishTable::last_before(const Id& group, std::uint64_t sequence) const {
  for (auto entry = pending_.lower_bound(sequence); entry != pending_.begin();) {
    --entry;
    const PendingPublish& publish = entry->second;
    if (publish.message.group == group && !publish.placed) return entry->first;
  }
  return 0;
}

std::vector<std::uint64_t> PublishTable::after(const Id& group, std::uint64_t sequence) const {
  std::vector<std::uint64_t> sequences;
  for (auto entry = pending_.upper_bound(sequence); entry != pending_.end(); ++entry) {
    const PendingPublish& publish = entry->second;
    if (publish.message.group == group && !publish.placed) sequences.push_back(entry->first);
  }
  return sequences;
}

std::vector<std::uint64_t> PublishTable::all() const {
  std::vector<std::uint64_t> sequences;
  for (const auto& [sequence, publish] : pending_) sequences.push_back(sequence);
  return sequences;
}

std::vector<std::uint64_t> PublishTable::sent_to(PeerRef peer) const {
  std::vector<std::uint64_t> sequences;
  for (const auto& [sequence, publish] : pending_) {
    if (publish.sent_to == peer) sequences.push_back(sequence);
  }
  return sequences;
}

void PublishTable::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [sequence, publish] : pending_) {
    if (publish.sent_to) in_use.push_back(publish.sent_to);
  }
}

}  // namespace canopy::scribe
