#include "sim/ring_order.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace canopy::sim {

RingOrder::RingOrder(std::vector<Member> members) : members_(std::move(members)) {
  std::sort(members_.begin(), members_.end(),
            [](const Member& a, const Member& b) { return a.id < b.id; });
}

std::size_t RingOrder::closest_position(const Id& key) const {
  CANOPY_ASSERT(!members_.empty());
  const auto at =
      std::lower_bound(members_.begin(), members_.end(), key,
                       [](const Member& member, const Id& wanted) { return member.id < wanted; });
  const auto above = static_cast<std::size_t>(at - members_.begin()) % size();
  const std::size_t below = (above + size() - 1) % size();
  const Id& above_id = members_[above].id;
  const Id& below_id = members_[below].id;
  const Id up = std::min(above_id - key, key - above_id);
  const Id down = std::min(below_id - key, key - below_id);
  if (up != down) return up < down ? above : below;
  return above_id < below_id ? above : below;
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
