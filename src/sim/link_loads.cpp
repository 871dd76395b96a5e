#include "sim/link_loads.hpp"

#include <algorithm>

namespace canopy::sim {

void LinkLoads::send(HostIndex from, HostIndex to) {
  internet_.walk_back(from, to, [this](LinkIndex link) {
    count(link);
    return true;
  });
}

void LinkLoads::begin_multicast(HostIndex root) {
  root_ = root;
  ++multicasts_;
}

void LinkLoads::reach(HostIndex member) {
  internet_.walk_back(root_, member, [this](LinkIndex link) {
    if (tree_of_[link] == multicasts_) return false;
    tree_of_[link] = multicasts_;
    count(link);
    return true;
  });
}

std::uint32_t LinkLoads::most() const { return *std::max_element(loads_.begin(), loads_.end()); }

}  // namespace canopy::sim
