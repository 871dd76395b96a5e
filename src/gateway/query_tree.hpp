// The parameters of a form or of a URL's query, as the tree that their dotted
// names make: "MessageAttribute.1.Name=a" is MessageAttribute / 1 / Name = "a".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace canopy::gateway {

class QueryTree {
 public:
  struct Node {
    std::string_view name;
    std::optional<std::string_view> value;  // the first one wins
    std::vector<Node> children;             // in the order of their first sight

    const Node* child(std::string_view child_name) const noexcept;
  };

  static constexpr std::size_t parameters_max = 2'000;
  static constexpr std::size_t depth_max = 8;

  QueryTree() = default;
  QueryTree(const QueryTree&) = delete;
  QueryTree& operator=(const QueryTree&) = delete;

  // False if there are more parameters than allowed, or names with more parts.
  // Texts that cannot grow: at most two of them, the URL's and the body's.
  bool add(std::string_view encoded);

  const Node& root() const noexcept { return root_; }

 private:
  Node* at(std::string_view dotted_name);

  Node root_;
  std::size_t parameters_ = 0;
  std::vector<std::string> decoded_;  // what the nodes view
};

}  // namespace canopy::gateway
