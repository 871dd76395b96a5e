// Chains of publishes that are worth something only one after the other: once one has
// failed, those after it are not sent, also those whose publisher could not know yet.
// Remembers which are broken; of very many, the oldest are forgotten. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace canopy::scribe {

class PublishChains {
 public:
  static constexpr std::size_t broken_max = 1024;

  // 0 is no chain.
  void break_at(std::uint64_t chain) {
    if (chain == 0 || is_broken(chain)) return;
    if (broken_.size() == broken_max) broken_.erase(broken_.begin());
    broken_.push_back(chain);
  }

  bool is_broken(std::uint64_t chain) const {
    return std::ranges::find(broken_, chain) != broken_.end();
  }

 private:
  std::vector<std::uint64_t> broken_;  // seldom any
};

}  // namespace canopy::scribe
