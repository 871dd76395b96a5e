// tree: a group's whole tree, drawn, as JSON, or for Graphviz.
#include <algorithm>
#include <vector>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "canopy/commands.hpp"
#include "canopy/output.hpp"
#include "canopy/values.hpp"

namespace canopy::tools {

namespace control = wire::control;
namespace json = boost::json;

namespace {

class TreeView {
 public:
  explicit TreeView(const control::Tree& tree) : tree_(tree), children_(tree.nodes.size()) {
    depth_.resize(tree.nodes.size());
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const auto parent = tree.nodes[i].parent;
      if (!parent || *parent >= i) continue;  // parents come first
      children_[*parent].push_back(i);
      depth_[i] = depth_[*parent] + 1;
    }
  }

  std::string summary() const {
    const auto members = std::count_if(tree_.nodes.begin(), tree_.nodes.end(),
                                       [](const auto& node) { return node.member; });
    const auto deepest = std::max_element(depth_.begin(), depth_.end());
    return fmt::format("{} {}, {} {} (*), depth {}", tree_.nodes.size(),
                       tree_.nodes.size() == 1 ? "peer" : "peers", members,
                       members == 1 ? "member" : "members", deepest == depth_.end() ? 0 : *deepest);
  }

  // Depth first without recursion: a tree may be a chain of any length.
  std::string drawing() const {
    struct Line {
      std::size_t node;
      std::string indent;  // in front of its children
      std::string branch;  // in front of itself
    };
    std::string out;
    std::vector<Line> stack;
    if (!tree_.nodes.empty()) stack.push_back({0, "", ""});
    while (!stack.empty()) {
      const Line line = std::move(stack.back());
      stack.pop_back();
      out += line.branch + label(line.node) + "\n";
      const auto& children = children_[line.node];
      for (std::size_t i = children.size(); i-- > 0;) {
        const bool last = i + 1 == children.size();
        stack.push_back({children[i], line.indent + (last ? "   " : "│  "),
                         line.indent + (last ? "└─ " : "├─ ")});
      }
    }
    return out;
  }

  std::string dot() const {
    std::string out = "digraph tree {\n  rankdir=TB;\n  node [shape=box];\n";
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const control::TreeNode& node = tree_.nodes[i];
      out += fmt::format("  n{} [label=\"{}\\n{}\"{}];\n", i, dot_escaped(node.peer.name),
                         short_id(node.peer.id), node.member ? " style=bold" : "");
    }
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i)
      for (const std::size_t child : children_[i]) out += fmt::format("  n{} -> n{};\n", i, child);
    return out + "}\n";
  }

  json::object to_json() const {
    json::array nodes;
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const control::TreeNode& node = tree_.nodes[i];
      json::object object = tools::to_json(node.peer);
      object["root"] = i == 0;
      object["member"] = node.member;
      object["answered"] = node.answered;
      if (i == 0)
        object["parent"] = nullptr;
      else
        object["parent"] = tree_.nodes[node.parent.value_or(0)].peer.id.to_hex();
      json::array children;
      for (const std::size_t child : children_[i])
        children.push_back(json::value(tree_.nodes[child].peer.id.to_hex()));
      object["children"] = std::move(children);
      object["depth"] = depth_[i];
      nodes.push_back(std::move(object));
    }
    json::object object;
    put_group(object, tree_.group);
    object["group_id"] = tree_.group_id.to_hex();
    object["complete"] = tree_.complete;
    object["nodes"] = std::move(nodes);
    return object;
  }

 private:
  std::string label(std::size_t index) const {
    const control::TreeNode& node = tree_.nodes[index];
    std::string text = node.peer.name + (node.member ? " *" : "");
    text += fmt::format("  {}  {}", short_id(node.peer.id), first_address(node.peer));
    if (index == 0) text += "  root";
    if (!node.answered) text += "  (no answer)";
    return text;
  }

  static std::string dot_escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  }

  const control::Tree& tree_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::size_t> depth_;
};

control::Tree ask_for_tree(Context& context, const std::string& group) {
  try {
    return context.client.ask<control::Tree>(
        control::GetTree{parse_group(group)}, context.deadline(),
        [](control::Tree& whole, control::Tree part) {
          whole.nodes.insert(whole.nodes.end(), std::make_move_iterator(part.nodes.begin()),
                             std::make_move_iterator(part.nodes.end()));
        });
  } catch (const UsageError&) {
    throw;
  } catch (const Failure& failure) {
    throw Failure(fmt::format("{}: {}", group, failure.what()), failure);
  }
}

}  // namespace

int run(Context& context, const TreeCommand& command) {
  const std::string cluster = cluster_name(context);
  const control::Tree tree = ask_for_tree(context, command.group);
  const TreeView view(tree);
  if (context.json) {
    print_json(view.to_json());
  } else if (command.dot) {
    print(view.dot());
  } else {
    print_line(fmt::format("{}  {}  {}", display_name(tree.group, cluster), short_id(tree.group_id),
                           view.summary()));
    print(view.drawing());
  }
  if (!tree.complete)
    complain("not every peer answered, so a part may be missing: try again in a moment");
  return 0;
}

}  // namespace canopy::tools
