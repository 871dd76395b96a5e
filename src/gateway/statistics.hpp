// Counts calls and failures per action. Safe from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "gateway/action_table.hpp"

namespace canopy::gateway {

struct ActionCounts {
  std::atomic<std::uint64_t> calls = 0;
  std::atomic<std::uint64_t> failures = 0;
};

class Statistics {
 public:
  void count_call(std::size_t action) noexcept { add(counts_[action].calls); }
  void count_failure(std::size_t action) noexcept { add(counts_[action].failures); }
  const ActionCounts& of(std::size_t action) const noexcept { return counts_[action]; }

 private:
  static void add(std::atomic<std::uint64_t>& counter) noexcept {
    counter.fetch_add(1, std::memory_order_relaxed);
  }

  std::array<ActionCounts, action_names.size()> counts_;
};

}  // namespace canopy::gateway
