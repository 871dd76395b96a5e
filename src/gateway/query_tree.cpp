#include "gateway/query_tree.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "gateway/percent.hpp"

namespace canopy::gateway {

namespace {

constexpr std::size_t texts_max = 2;

QueryTree::Node& child_of(QueryTree::Node& node, std::string_view name) {
  for (QueryTree::Node& child : node.children)
    if (child.name == name) return child;
  node.children.push_back({name, std::nullopt, {}});
  return node.children.back();
}

}  // namespace

const QueryTree::Node* QueryTree::Node::child(std::string_view child_name) const noexcept {
  for (const Node& child : children)
    if (child.name == child_name) return &child;
  return nullptr;
}

bool QueryTree::add(std::string_view encoded) {
  CANOPY_ASSERT(decoded_.size() < texts_max);
  decoded_.reserve(texts_max);  // a short string's characters would move with it
  std::string& decoded = decoded_.emplace_back();
  decoded.reserve(encoded.size());
  while (!encoded.empty()) {
    const std::string_view pair = encoded.substr(0, encoded.find('&'));
    encoded.remove_prefix(std::min(pair.size() + 1, encoded.size()));
    if (pair.empty()) continue;
    if (++parameters_ > parameters_max) return false;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::size_t begin = decoded.size();
    percent_decode(pair.substr(0, equals), true, decoded);
    const std::size_t middle = decoded.size();
    percent_decode(pair.substr(std::min(equals + 1, pair.size())), true, decoded);
    const std::string_view all = decoded;
    Node* node = at(all.substr(begin, middle - begin));
    if (!node) return false;
    if (!node->value) node->value = all.substr(middle);
  }
  return true;
}

QueryTree::Node* QueryTree::at(std::string_view dotted_name) {
  Node* node = &root_;
  for (std::size_t depth = 0; depth < depth_max; ++depth) {
    const std::size_t dot = dotted_name.find('.');
    node = &child_of(*node, dotted_name.substr(0, dot));
    if (dot == std::string_view::npos) return node;
    dotted_name.remove_prefix(dot + 1);
  }
  return nullptr;
}

}  // namespace canopy::gateway
