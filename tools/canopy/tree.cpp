// tree: a group's whole tree, drawn, as JSON, or for Graphviz.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
  explicit TreeView(const control::Tree& tree)
      : tree_(tree),
        children_(tree.nodes.size()),
        depth_(tree.nodes.size()),
        from_root_us_(tree.nodes.size()) {
    if (!tree.nodes.empty()) from_root_us_[0] = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const auto parent = tree.nodes[i].parent;
      if (!parent || *parent >= i) continue;  // parents come first
      children_[*parent].push_back(i);
      depth_[i] = depth_[*parent] + 1;
      const auto& last = tree.nodes[i].round_trip_us;
      if (last && from_root_us_[*parent]) from_root_us_[i] = *from_root_us_[*parent] + *last;
    }
  }

  std::string summary() const {
    const auto members = std::count_if(tree_.nodes.begin(), tree_.nodes.end(),
                                       [](const auto& node) { return node.member; });
    std::size_t forwarders = 0;
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) forwarders += is_forwarder(i) ? 1 : 0;
    const auto deepest = std::max_element(depth_.begin(), depth_.end());
    return fmt::format(
        "{}, {} (*),{} depth {}", counted(tree_.nodes.size(), "peer"),
        counted(static_cast<std::size_t>(members), "member"),
        forwarders == 0 ? std::string() : " " + counted(forwarders, "forwarder") + ",",
        deepest == depth_.end() ? 0 : *deepest);
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
      object["forwarder"] = is_forwarder(i);
      object["answered"] = node.answered;
      object["denied"] = node.denied;
      if (i == 0)
        object["parent"] = nullptr;
      else
        object["parent"] = tree_.nodes[node.parent.value_or(0)].peer.id.to_hex();
      json::array children;
      for (const std::size_t child : children_[i])
        children.push_back(json::value(tree_.nodes[child].peer.id.to_hex()));
      object["children"] = std::move(children);
      object["depth"] = depth_[i];
      object["round_trip_us"] = number_or_null(i == 0 ? std::nullopt : node.round_trip_us);
      object["root_round_trip_us"] = number_or_null(from_root_us_[i]);
      nodes.push_back(std::move(object));
    }
    json::object object;
    put_group(object, tree_.group);
    object["group_id"] = tree_.group_id.to_hex();
    object["mode"] = text_of(tree_.mode);
    object["complete"] = tree_.complete;
    object["nodes"] = std::move(nodes);
    return object;
  }

 private:
  // In the tree for others alone; the root is in any case.
  bool is_forwarder(std::size_t index) const {
    const control::TreeNode& node = tree_.nodes[index];
    return index > 0 && node.answered && !node.member;
  }

  static std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  }

  template <class Number>
  static json::value number_or_null(const std::optional<Number>& number) {
    return number ? json::value(*number) : json::value(nullptr);
  }

  static std::string milliseconds(std::uint64_t us) {
    return fmt::format("{:.1f} ms", static_cast<double>(us) / 1000);
  }

  // How deep, and how far by the round trips of the edges.
  std::string place(std::size_t index) const {
    std::string text = fmt::format("depth {}", depth_[index]);
    if (const auto& last = tree_.nodes[index].round_trip_us) text += ", " + milliseconds(*last);
    if (depth_[index] > 1 && from_root_us_[index])
      text += fmt::format(" ({} from the root)", milliseconds(*from_root_us_[index]));
    return text;
  }

  std::string label(std::size_t index) const {
    const control::TreeNode& node = tree_.nodes[index];
    std::string text = node.peer.name + (node.member ? " *" : "");
    text += fmt::format("  {}  {}", short_id(node.peer.id), first_address(node.peer));
    text += "  " + (index == 0 ? std::string("root") : place(index));
    if (is_forwarder(index)) text += "  forwarder";
    if (node.denied)
      text += "  (denied)";
    else if (!node.answered)
      text += "  (no answer)";
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
  std::vector<std::optional<std::uint64_t>> from_root_us_;  // round trips, where all are known
};

control::Tree ask_for_tree(Context& context, const TreeCommand& command) {
  const control::GetTree question{parse_group(command.group), command.token};
  return about(command.group, [&] {
    return context.client.ask<control::Tree>(
        question, context.deadline(), [](control::Tree& whole, control::Tree part) {
          whole.nodes.insert(whole.nodes.end(), std::make_move_iterator(part.nodes.begin()),
                             std::make_move_iterator(part.nodes.end()));
        });
  });
}

// Peers of which no more than their place is known, for one reason.
struct Unknown {
  static constexpr std::size_t named_max = 5;
  std::string names = {};
  std::size_t count = 0;

  void add(const std::string& name) {
    if (++count <= named_max) names += (names.empty() ? "" : ", ") + name;
  }
  std::string text(std::string_view why) const {
    const std::string more =
        count > named_max ? fmt::format(" and {} more", count - named_max) : std::string();
    return fmt::format(
        "{}{} {}, so whether {} a member and who is below {} is not known: try "
        "again in a moment",
        names, more, why, count == 1 ? "it is" : "each is", count == 1 ? "it" : "them");
  }
};

// And why: a line each.
std::vector<std::string> what_is_missing(const control::Tree& tree) {
  Unknown silent;
  Unknown denied;
  for (const control::TreeNode& node : tree.nodes) {
    if (node.denied) {
      denied.add(node.peer.name);
    } else if (!node.answered) {
      silent.add(node.peer.name);
    }
  }
  std::vector<std::string> lines;
  if (silent.count != 0) lines.push_back(silent.text("did not answer (dead, or hard to reach)"));
  if (denied.count != 0)
    lines.push_back(denied.text("denied it, by another access list than the root's"));
  if (lines.empty()) {
    lines.emplace_back(
        "the tree changed while it was read, or has more peers than can be shown: a part is "
        "missing, or stands where it was; try again in a moment");
  }
  return lines;
}

}  // namespace

int run(Context& context, const TreeCommand& command) {
  const std::string cluster = cluster_name(context);
  const control::Tree tree = ask_for_tree(context, command);
  const TreeView view(tree);
  if (context.json) {
    print_json(view.to_json());
  } else if (command.dot) {
    print(view.dot());
  } else {
    print_line(fmt::format("{}  {}  {}, {}", display_name(tree.group, cluster),
                           short_id(tree.group_id), text_of(tree.mode), view.summary()));
    print(view.drawing());
  }
  if (tree.complete) return 0;
  for (const std::string& line : what_is_missing(tree)) complain(line);
  return 0;
}

}  // namespace canopy::tools
