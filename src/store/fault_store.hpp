// A store that loses what it did not make last, and fails, decided by a seed: for
// tests. flush() works in the background: persist() does some of it, and crash()
// goes back to where that got.
#pragma once

#include <deque>
#include <memory>

#include "base/random.hpp"
#include "store/memory_store.hpp"

namespace canopy::store {

struct StoreFaults {
  double read_error = 0;  // chances a call
  double apply_error = 0;
};

class FaultStore final : public KeyValueStore {
 public:
  explicit FaultStore(std::uint64_t seed) : random_(seed) {}

  StoreFaults faults;

  // What a restart would see. No cursor may be left.
  void crash();
  // The background gets on with the last flush(), or by itself as a full write
  // buffer would: a random part of what is applied survives from now on.
  void persist();

  boost::system::result<std::optional<std::string>> get(std::string_view key) const override;
  std::unique_ptr<Cursor> range(std::string_view first, std::string_view last) const override;
  boost::system::error_code apply(const Batch& batch, std::uint64_t index) override;
  std::uint64_t applied() const override { return seen_->applied(); }
  std::uint64_t persisted() const override { return kept_.applied(); }
  void flush() override { flush_to_ = seen_->applied(); }

 private:
  struct Applied {
    Batch batch;
    std::uint64_t index = 0;
  };
  void persist_one();

  mutable Random random_;
  std::unique_ptr<MemoryStore> seen_ = std::make_unique<MemoryStore>();
  MemoryStore kept_;
  std::deque<Applied> unsynced_;
  std::uint64_t flush_to_ = 0;
};

}  // namespace canopy::store
