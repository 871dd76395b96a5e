// The live nodes of a simulation in the order of their ids: the global
// knowledge that checkers and the ideal state are worked out from. Shares no
// code with the protocol beyond the arithmetic of ids.
#pragma once

#include <cstddef>
#include <vector>

#include "base/id.hpp"
#include "sim/network.hpp"

namespace canopy::sim {

class RingOrder {
 public:
  struct Member {
    Id id;
    NodeIndex node = no_node;
  };

  // In any order; ids differ.
  explicit RingOrder(std::vector<Member> members);

  std::size_t size() const { return members_.size(); }
  const Member& operator[](std::size_t position) const { return members_[position]; }
  const std::vector<Member>& members() const { return members_; }

  // The member numerically closest to the key; of two, the one of smaller id.
  NodeIndex closest(const Id& key) const { return members_[closest_position(key)].node; }
  std::size_t closest_position(const Id& key) const;

  // The positions of the `half` nearest on each side (fewer in a small ring),
  // each once, in no particular order.
  std::vector<std::size_t> leaves(std::size_t position, std::size_t half) const;

 private:
  std::vector<Member> members_;
};

}  // namespace canopy::sim
