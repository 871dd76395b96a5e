// Things that fall due, by key: one deadline each, earliest first, ties in key
// order. Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace canopy::scribe {

template <class Key>
class DeadlineSet {
 public:
  // Sets or moves the key's deadline.
  void schedule(const Key& key, MonoTime deadline) {
    const auto [entry, added] = deadlines_.try_emplace(key, deadline);
    if (!added) {
      order_.erase({entry->second, key});
      entry->second = deadline;
    }
    order_.insert({deadline, key});
  }

  void cancel(const Key& key) {
    const auto entry = deadlines_.find(key);
    if (entry == deadlines_.end()) return;
    order_.erase({entry->second, key});
    deadlines_.erase(entry);
  }

  std::size_t size() const noexcept { return deadlines_.size(); }
  bool contains(const Key& key) const { return deadlines_.contains(key); }

  MonoTime next() const { return order_.empty() ? never : order_.begin()->first; }

  // Takes out everything that is due now.
  std::vector<Key> take_due(MonoTime now) {
    std::vector<Key> due;
    while (!order_.empty() && order_.begin()->first <= now) {
      due.push_back(order_.begin()->second);
      deadlines_.erase(due.back());
      order_.erase(order_.begin());
    }
    return due;
  }

 private:
  std::map<Key, MonoTime> deadlines_;
  std::set<std::pair<MonoTime, Key>> order_;
};

}  // namespace canopy::scribe
