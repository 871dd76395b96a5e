#include "store/memory_store.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace canopy::store {

using boost::system::error_code;
using boost::system::result;

namespace {

// A node of the map with its strings, and what the allocator adds.
constexpr std::size_t entry_bytes = 168;

}  // namespace

class MemoryCursor final : public Cursor {
 public:
  MemoryCursor(const MemoryStore& store, std::string_view first, std::string_view last)
      : store_(&store), at_(store.entries_.lower_bound(first)), end_(at_) {
    if (first < last) end_ = store.entries_.lower_bound(last);
    store.cursors_.push_back(this);
  }
  MemoryCursor(const MemoryCursor&) = delete;
  MemoryCursor& operator=(const MemoryCursor&) = delete;
  ~MemoryCursor() override {
    if (store_) std::erase(store_->cursors_, this);
  }

  bool valid() const override { return at_ != end_; }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second.value; }
  void next() override { ++at_; }
  error_code error() const override { return {}; }

  // The store is about to change.
  void detach() {
    copy_.insert(at_, end_);
    at_ = copy_.begin();
    end_ = copy_.end();
    store_ = nullptr;
  }

 private:
  const MemoryStore* store_;
  MemoryStore::Entries copy_;
  MemoryStore::Entries::const_iterator at_;
  MemoryStore::Entries::const_iterator end_;
};

result<std::optional<std::string>> MemoryStore::get(std::string_view key) const {
  auto found = entries_.find(key);
  if (found == entries_.end()) return std::optional<std::string>();
  return std::optional<std::string>(found->second.value);
}

std::unique_ptr<Cursor> MemoryStore::range(std::string_view first, std::string_view last) const {
  return std::make_unique<MemoryCursor>(*this, first, last);
}

std::unique_ptr<MemoryStore> MemoryStore::copy() const {
  auto store = std::make_unique<MemoryStore>();
  store->entries_ = entries_;
  store->bytes_ = bytes_;
  store->applied_ = applied_;
  return store;
}

void MemoryStore::erase(Entries::iterator first, Entries::iterator last) {
  for (auto entry = first; entry != last; ++entry)
    bytes_ -= entry_bytes + entry->first.size() + entry->second.value.size();
  entries_.erase(first, last);
}

error_code MemoryStore::apply(const Batch& batch, std::uint64_t index) {
  CANOPY_ASSERT(index > applied_);
  for (MemoryCursor* cursor : cursors_) cursor->detach();
  cursors_.clear();
  for (const Batch::Write& write : batch.writes()) {
    switch (write.kind) {
      case Batch::Kind::put: {
        const auto [entry, is_new] = entries_.try_emplace(write.key);
        if (is_new) bytes_ += entry_bytes + write.key.size();
        bytes_ = bytes_ - entry->second.value.size() + write.value.size();
        entry->second = {write.value, is_new};
        break;
      }
      case Batch::Kind::erase:
      case Batch::Kind::erase_put_once: {
        const auto [first, last] = entries_.equal_range(write.key);
        if (write.kind == Batch::Kind::erase_put_once)
          CANOPY_ASSERT(first == last || first->second.put_once);
        erase(first, last);
        break;
      }
      case Batch::Kind::erase_range:
        if (write.key < write.value)
          erase(entries_.lower_bound(write.key), entries_.lower_bound(write.value));
        break;
    }
  }
  applied_ = index;
  return {};
}

}  // namespace canopy::store
