// Things that fall due, by key: one deadline each, earliest first, ties in key
// order. Takes no memory before the first one: a node has many such sets, most
// of which stay empty. Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
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
    if (!entries_) entries_ = std::make_unique<Entries>();
    const auto [entry, added] = entries_->deadlines.try_emplace(key, deadline);
    if (!added) {
      entries_->order.erase({entry->second, key});
      entry->second = deadline;
    }
    entries_->order.insert({deadline, key});
  }

  void cancel(const Key& key) {
    if (!contains(key)) return;
    const auto entry = entries_->deadlines.find(key);
    entries_->order.erase({entry->second, key});
    entries_->deadlines.erase(entry);
  }

  std::size_t size() const noexcept { return entries_ ? entries_->deadlines.size() : 0; }
  bool contains(const Key& key) const { return entries_ && entries_->deadlines.contains(key); }

  // The key's; never if it has none.
  MonoTime deadline_of(const Key& key) const {
    return contains(key) ? entries_->deadlines.at(key) : never;
  }

  MonoTime next() const { return size() == 0 ? never : entries_->order.begin()->first; }

  // Takes out everything that is due now.
  std::vector<Key> take_due(MonoTime now) {
    std::vector<Key> due;
    while (size() > 0 && next() <= now) {
      const auto first = entries_->order.begin();
      due.push_back(first->second);
      entries_->deadlines.erase(first->second);
      entries_->order.erase(first);
    }
    return due;
  }

 private:
  struct Entries {
    std::map<Key, MonoTime> deadlines;
    std::set<std::pair<MonoTime, Key>> order;
  };
  std::unique_ptr<Entries> entries_;
};

}  // namespace canopy::scribe
