// The groups of Scribe's evaluation: their sizes, names and members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "sim/network.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::sim {

// From the largest on: floor(nodes * rank^-1.25 + 0.5).
std::vector<std::size_t> zipf_sizes(std::size_t nodes, std::size_t groups);

struct ScribeGroup {
  wire::GroupName name;
  std::vector<NodeIndex> members;  // in the order in which they join
};

class NodeDraw {
 public:
  NodeDraw(std::size_t nodes, Random random);
  std::vector<NodeIndex> distinct(std::size_t count);
  NodeIndex any() { return static_cast<NodeIndex>(random_.below(nodes_.size())); }

 private:
  std::vector<NodeIndex> nodes_;
  Random random_;
};

// Draws one group after the other: distinct members, and any node for its creator.
class GroupDraw {
 public:
  GroupDraw(std::size_t nodes, Random random) : draw_(nodes, random) {}
  ScribeGroup draw(std::size_t size);

 private:
  NodeDraw draw_;
  std::size_t drawn_ = 0;
};

}  // namespace canopy::sim
