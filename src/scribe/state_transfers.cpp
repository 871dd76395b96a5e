#include "scribe/state_transfers.hpp"

#include <algorithm>

namespace canopy::scribe {

void StateTransfers::enqueue(PeerRef peer, Purpose purpose, const Id& group, MonoTime now) {
  Queue& queue = queues_[{peer, purpose}];
  queue.waiting.insert(group);
  if (queue.under_way.empty()) queue.due = now;
}

bool StateTransfers::queued(PeerRef peer, Purpose purpose, const Id& group) const {
  const auto found = queues_.find({peer, purpose});
  return found != queues_.end() &&
         (found->second.waiting.contains(group) ||
          std::ranges::find(found->second.under_way, group) != found->second.under_way.end());
}

bool StateTransfers::busy(PeerRef peer) const {
  return queues_.contains({peer, Purpose::replica}) || queues_.contains({peer, Purpose::handover});
}

std::vector<StateTransfers::Batch> StateTransfers::take_due(MonoTime now) {
  std::vector<Batch> batches;
  for (auto entry = queues_.begin(); entry != queues_.end();) {
    Queue& queue = entry->second;
    if (queue.due > now) {
      ++entry;
      continue;
    }
    if (queue.under_way.empty()) {
      while (!queue.waiting.empty() && queue.under_way.size() < batch_max) {
        queue.under_way.push_back(*queue.waiting.begin());
        queue.waiting.erase(queue.waiting.begin());
      }
      queue.nonce = ++last_nonce_;
      queue.attempts = 0;
    }
    if (queue.under_way.empty() || queue.attempts == attempts_max) {
      entry = queues_.erase(entry);
      continue;
    }
    ++queue.attempts;
    queue.due = now + retry_interval_;
    batches.push_back({entry->first.first, entry->first.second, queue.nonce, queue.under_way});
    ++entry;
  }
  return batches;
}

std::optional<StateTransfers::Batch> StateTransfers::confirmed(PeerRef peer, std::uint32_t nonce,
                                                               MonoTime now) {
  for (const Purpose purpose : {Purpose::replica, Purpose::handover}) {
    const auto entry = queues_.find({peer, purpose});
    if (entry == queues_.end() || entry->second.nonce != nonce || entry->second.under_way.empty()) {
      continue;
    }
    Queue& queue = entry->second;
    Batch batch{peer, purpose, nonce, std::move(queue.under_way)};
    queue.under_way.clear();
    queue.due = now;
    if (queue.waiting.empty()) queues_.erase(entry);
    return batch;
  }
  return std::nullopt;
}

void StateTransfers::cancel(PeerRef peer) {
  queues_.erase({peer, Purpose::replica});
  queues_.erase({peer, Purpose::handover});
}

void StateTransfers::cancel(PeerRef peer, Purpose purpose, const Id& group) {
  const auto entry = queues_.find({peer, purpose});
  if (entry == queues_.end()) return;
  entry->second.waiting.erase(group);
  std::erase(entry->second.under_way, group);
}

MonoTime StateTransfers::next_deadline() const noexcept {
  MonoTime next = never;
  for (const auto& [key, queue] : queues_) next = std::min(next, queue.due);
  return next;
}

void StateTransfers::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [key, queue] : queues_) in_use.push_back(key.first);
}

}  // namespace canopy::scribe
