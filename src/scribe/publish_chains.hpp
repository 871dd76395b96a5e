// Chains of publishes that are worth something only one after the other: once one has
// failed, those after it are not sent, also those whose publisher could not know yet.
// Remembers which are broken; of very many, the oldest are forgotten. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>

namespace canopy::scribe {

class PublishChains {
 public:
  static constexpr std::size_t broken_max = 1024;

  // 0 is no chain.
  void break_at(std::uint64_t chain) {
    if (chain == 0 || !broken_.insert(chain).second) return;
    order_.push_back(chain);
    if (order_.size() <= broken_max) return;
    broken_.erase(order_.front());
    order_.pop_front();
  }

  bool is_broken(std::uint64_t chain) const { return chain != 0 && broken_.contains(chain); }

 private:
  std::unordered_set<std::uint64_t> broken_;
  std::deque<std::uint64_t> order_;
};

}  // namespace canopy::scribe
