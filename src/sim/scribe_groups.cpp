#include "sim/scribe_groups.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/node_name.hpp"

namespace canopy::sim {

std::vector<std::size_t> zipf_sizes(std::size_t nodes, std::size_t groups) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 1; i <= groups; ++i) {
    const auto rank = static_cast<double>(i);
    // rank^1.25, by operations that are exact everywhere.
    const double divisor = rank * std::sqrt(std::sqrt(rank));
    sizes.push_back(static_cast<std::size_t>(static_cast<double>(nodes) / divisor + 0.5));
  }
  return sizes;
}

NodeDraw::NodeDraw(std::size_t nodes, Random random) : nodes_(nodes), random_(random) {
  std::iota(nodes_.begin(), nodes_.end(), NodeIndex{0});
}

std::vector<NodeIndex> NodeDraw::distinct(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(nodes_[i], nodes_[i + random_.below(nodes_.size() - i)]);
  }
  return {nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(count)};
}

ScribeGroup GroupDraw::draw(std::size_t size) {
  auto members = draw_.distinct(size);
  return {{fmt::format("group-{:06}", drawn_++), node_name(draw_.any())}, std::move(members)};
}

}  // namespace canopy::sim
