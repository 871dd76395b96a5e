// A store in memory, which forgets everything with the process: for tests, and
// for a peer without a data directory. One thread.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "store/key_value_store.hpp"

namespace canopy::store {

class MemoryStore final : public KeyValueStore {
 public:
  MemoryStore() = default;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  boost::system::result<std::optional<std::string>> get(std::string_view key) const override;
  std::unique_ptr<Cursor> range(std::string_view first, std::string_view last) const override;

  boost::system::error_code apply(const Batch& batch, std::uint64_t index) override;
  std::uint64_t applied() const override { return applied_; }
  std::uint64_t persisted() const override { return applied_; }
  void flush() override {}

  std::unique_ptr<MemoryStore> copy() const;

  // What it takes, about.
  std::uint64_t bytes() const { return bytes_; }

 private:
  friend class MemoryCursor;
  struct Entry {
    std::string value;
    bool put_once = true;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  void erase(Entries::iterator first, Entries::iterator last);

  Entries entries_;
  std::uint64_t bytes_ = 0;
  std::uint64_t applied_ = 0;
  // Those on entries_: they take a copy of the rest of their range before a change.
  mutable std::vector<class MemoryCursor*> cursors_;
};

}  // namespace canopy::store
