// A store in memory for the tests of the queue layer. No cursor may live across
// a change. Copies are snapshots. What was erased is in the way of walks for ever,
// as it is in a log-structured store for a while.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "store/key_value_store.hpp"

namespace canopy::queue {

class TestStore final : public store::KeyValueStore {
 public:
  using Entries = std::map<std::string, std::string, std::less<>>;

  boost::system::result<std::optional<std::string>> get(std::string_view key) const override {
    ++reads;
    const auto found = entries.find(key);
    if (found == entries.end()) return std::optional<std::string>();
    return std::optional(found->second);
  }

  std::unique_ptr<store::Cursor> range(std::string_view first,
                                       std::string_view last) const override {
    ++ranges;
    return std::make_unique<Walk>(*this, first, last);
  }

  boost::system::error_code apply(const store::Batch& batch, std::uint64_t index) override {
    for (const auto& write : batch.writes()) {
      switch (write.kind) {
        case store::Batch::Kind::put:
          if (!entries.insert_or_assign(write.key, write.value).second) put_again.insert(write.key);
          erased.erase(write.key);
          break;
        case store::Batch::Kind::erase_put_once:
          EXPECT_FALSE(put_again.contains(write.key)) << "put more than once";
          [[fallthrough]];
        case store::Batch::Kind::erase:
          entries.erase(write.key);
          put_again.erase(write.key);
          erased.insert(write.key);
          break;
        case store::Batch::Kind::erase_range:
          entries.erase(entries.lower_bound(write.key), entries.lower_bound(write.value));
          break;
      }
    }
    applied_ = index;
    return {};
  }

  std::uint64_t applied() const override { return applied_; }
  std::uint64_t persisted() const override { return applied_; }
  void flush() override {}

  Entries entries;
  std::set<std::string, std::less<>> erased;
  std::set<std::string, std::less<>> put_again;
  // What reading has cost.
  mutable std::uint64_t reads = 0;
  mutable std::uint64_t ranges = 0;
  mutable std::uint64_t steps = 0;

 private:
  class Walk final : public store::Cursor {
   public:
    Walk(const TestStore& store, std::string_view first, std::string_view last)
        : store_(store),
          at_(store.entries.lower_bound(first)),
          end_(store.entries.lower_bound(last)),
          erased_(store.erased.lower_bound(first)),
          erased_end_(store.erased.lower_bound(last)) {
      pass_erased();
    }
    bool valid() const override { return at_ != end_; }
    std::string_view key() const override { return at_->first; }
    std::string_view value() const override { return at_->second; }
    void next() override {
      ++at_;
      ++store_.steps;
      pass_erased();
    }
    boost::system::error_code error() const override { return {}; }

   private:
    void pass_erased() {
      for (; erased_ != erased_end_ && (at_ == end_ || *erased_ < at_->first); ++erased_)
        ++store_.steps;
    }

    const TestStore& store_;
    Entries::const_iterator at_;
    Entries::const_iterator end_;
    std::set<std::string, std::less<>>::const_iterator erased_;
    std::set<std::string, std::less<>>::const_iterator erased_end_;
  };

  std::uint64_t applied_ = 0;
};

}  // namespace canopy::queue
