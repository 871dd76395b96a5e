#include "sim/ring_order.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace canopy::sim {

RingOrder::RingOrder(std::vector<Member> members) : members_(std::move(members)) {
  std::sort(members_.begin(), members_.end(),
            [](const Member& a, const Member& b) { return a.id < b.id; });
}

NodeIndex RingOrder::closest(const Id& key) const {
  CANOPY_ASSERT(!members_.empty());
  const auto at =
      std::lower_bound(members_.begin(), members_.end(), key,
                       [](const Member& member, const Id& wanted) { return member.id < wanted; });
  const Member& above = at == members_.end() ? members_.front() : *at;
  const Member& below = at == members_.begin() ? members_.back() : *(at - 1);
  const Id up = std::min(above.id - key, key - above.id);
  const Id down = std::min(below.id - key, key - below.id);
  if (up != down) return up < down ? above.node : below.node;
  return above.id < below.id ? above.node : below.node;
}

std::vector<std::size_t> RingOrder::leaves(std::size_t position, std::size_t half) const {
  const std::size_t others = size() - 1;
  std::vector<std::size_t> leaves;
  for (std::size_t i = 1; i <= std::min(half, others); ++i) {
    leaves.push_back((position + i) % size());
  }
  for (std::size_t i = 1; i <= half && leaves.size() < others; ++i) {
    leaves.push_back((position + size() - i) % size());
  }
  return leaves;
}

}  // namespace canopy::sim
