#include "sim/scenario.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

namespace canopy::sim {

namespace {

namespace json = boost::json;

constexpr std::size_t nodes_max = 1'000'000;
constexpr double coordinate_max = 1e12;  // squares of distances stay exact enough

constexpr std::array<std::pair<Scenario::Op, std::string_view>, 7> ops{{
    {Scenario::Op::create, "create"},
    {Scenario::Op::route, "route"},
    {Scenario::Op::join, "join"},
    {Scenario::Op::publish, "publish"},
    {Scenario::Op::leave, "leave"},
    {Scenario::Op::fail, "fail"},
    {Scenario::Op::tree, "tree"},
}};

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw ScenarioError(fmt::format(format, std::forward<Args>(args)...));
}

// An object of the file, with its place for messages: "", "nodes[3].", ..
class Fields {
 public:
  Fields(const json::value& value, std::string place) : place_(std::move(place)) {
    if (!value.is_object()) {
      refuse("{} must be an object", place_.empty() ? "the scenario" : place_);
    }
    object_ = &value.get_object();
    if (!place_.empty()) place_ += '.';
  }

  const json::value& get(std::string_view field) const {
    const json::value* value = object_->if_contains(json::string_view(field));
    if (value == nullptr) refuse("{}{} is missing", place_, field);
    return *value;
  }

  std::string text(std::string_view field) const {
    const json::value& value = get(field);
    if (!value.is_string()) refuse("{}{} must be a string", place_, field);
    return std::string(value.get_string());
  }

  double number(std::string_view field) const {
    const json::value& value = get(field);
    if (!value.is_number()) refuse("{}{} must be a number", place_, field);
    const double number = value.to_number<double>();
    if (!std::isfinite(number)) refuse("{}{} must be finite", place_, field);
    return number;
  }

  double coordinate(std::string_view field) const {
    const double value = number(field);
    if (std::abs(value) > coordinate_max) {
      refuse("{}{} must lie between {:g} and {:g}", place_, field, -coordinate_max, coordinate_max);
    }
    return value;
  }

  unsigned count(std::string_view field, unsigned least, unsigned most) const {
    const double value = number(field);
    if (value != std::floor(value) || value < least || value > most) {
      refuse("{}{} must be a whole number from {} to {}", place_, field, least, most);
    }
    return static_cast<unsigned>(value);
  }

  const json::array& list(std::string_view field) const {
    const json::value& value = get(field);
    if (!value.is_array()) refuse("{}{} must be an array", place_, field);
    return value.get_array();
  }

  const std::string& place() const { return place_; }

 private:
  const json::object* object_ = nullptr;
  std::string place_;
};

void read_constants(const Fields& top, Scenario& scenario) {
  scenario.id_bits = top.count("id_bits", 4, Id::bits);
  if (scenario.id_bits % 4 != 0) {
    refuse("id_bits must be a multiple of 4, since ids print in hexadecimal");
  }
  scenario.b = top.count("b", 1, 8);
  if (scenario.id_bits % scenario.b != 0) {
    refuse("b must divide id_bits, and {} does not divide {}", scenario.b, scenario.id_bits);
  }
  scenario.leaf_set_size = top.count("leaf_set_size", 2, 1024);
  if (scenario.leaf_set_size % 2 != 0) refuse("leaf_set_size must be even: half on each side");
  scenario.neighborhood_size = top.count("neighborhood_size", 0, 1024);
  const std::string tables = top.text("tables");
  if (tables == "ideal") {
    scenario.tables = Scenario::Tables::ideal;
  } else if (tables == "protocol") {
    scenario.tables = Scenario::Tables::protocol;
  } else {
    refuse("tables must be \"ideal\" or \"protocol\", not \"{}\"", tables);
  }
}

void read_nodes(const Fields& top, Scenario& scenario) {
  const json::array& list = top.list("nodes");
  if (list.empty()) refuse("nodes must name at least one node");
  if (list.size() > nodes_max) refuse("nodes must name at most {} nodes", nodes_max);
  std::map<Id, std::string> names;  // by id
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Fields fields(list[i], fmt::format("nodes[{}]", i));
    Scenario::Node node;
    node.name = fields.text("name");
    if (node.name.empty()) refuse("{}name must not be empty", fields.place());
    node.id = Id::hash_of(node.name, scenario.id_bits);
    node.point = {fields.coordinate("x"), fields.coordinate("y")};
    const auto [there, added] = names.emplace(node.id, node.name);
    if (!added && there->second == node.name) {
      refuse("{}name: \"{}\" is used twice", fields.place(), node.name);
    }
    if (!added) {
      refuse("{}name: \"{}\" has the same id as \"{}\", {}: choose another or a larger id_bits",
             fields.place(), node.name, there->second, node.id.to_hex(scenario.id_bits));
    }
    scenario.nodes.push_back(std::move(node));
  }
}

// Reads steps with a view of what has happened by then.
class StepReader {
 public:
  explicit StepReader(const Scenario& scenario) : scenario_(scenario) {
    for (NodeIndex node = 0; node < scenario.nodes.size(); ++node) {
      by_name_.emplace(scenario.nodes[node].name, node);
      by_id_.emplace(scenario.nodes[node].id, node);
    }
  }

  Scenario::Step read(const json::value& value, std::size_t index) {
    const Fields fields(value, fmt::format("steps[{}]", index));
    Scenario::Step step;
    step.op = op(fields);
    if (step.op != Scenario::Op::route && step.op != Scenario::Op::fail) {
      step.group = group(fields, step.op == Scenario::Op::create);
    }
    switch (step.op) {
      case Scenario::Op::create: create(fields, step); break;
      case Scenario::Op::route: step.key = key(fields); [[fallthrough]];
      case Scenario::Op::join:
      case Scenario::Op::publish:
      case Scenario::Op::leave: step.node = live_node(fields, "node"); break;
      case Scenario::Op::fail:
        step.node = live_node(fields, "node");
        if (failed_.size() + 1 == scenario_.nodes.size()) {
          refuse("{}node: the last node must not fail", fields.place());
        }
        failed_.insert(step.node);
        break;
      case Scenario::Op::tree: break;
    }
    return step;
  }

 private:
  static Scenario::Op op(const Fields& fields) {
    const std::string name = fields.text("op");
    for (const auto& [op, known] : ops) {
      if (name == known) return op;
    }
    refuse("{}op: \"{}\" is none of create, route, join, publish, leave, fail, tree",
           fields.place(), name);
  }

  std::string group(const Fields& fields, bool new_one) const {
    std::string name = fields.text("group");
    if (name.empty()) refuse("{}group must not be empty", fields.place());
    if (!new_one && !creators_.contains(name)) {
      refuse("{}group: no step before this one creates \"{}\"", fields.place(), name);
    }
    return name;
  }

  void create(const Fields& fields, Scenario::Step& step) {
    step.node = node(fields, "creator");
    const auto [there, added] = creators_.emplace(step.group, step.node);
    if (!added && there->second != step.node) {
      refuse("{}group: \"{}\" was created by \"{}\" already", fields.place(), step.group,
             scenario_.nodes[there->second].name);
    }
  }

  // A number in hexadecimal: leading zeros may be left out.
  std::optional<Id> id(const std::string& text) const {
    const std::size_t digits = scenario_.id_bits / 4;
    if (text.empty() || text.size() > digits) return std::nullopt;
    return Id::from_hex(std::string(digits - text.size(), '0') + text);
  }

  Id key(const Fields& fields) const {
    const std::string text = fields.text("key");
    const auto key = id(text);
    if (!key) {
      refuse("{}key: \"{}\" is not an id of {} hexadecimal digits", fields.place(), text,
             scenario_.id_bits / 4);
    }
    return *key;
  }

  NodeIndex node(const Fields& fields, std::string_view field) const {
    const std::string text = fields.text(field);
    if (const auto named = by_name_.find(text); named != by_name_.end()) return named->second;
    if (const auto hex = id(text)) {
      if (const auto found = by_id_.find(*hex); found != by_id_.end()) return found->second;
    }
    refuse("{}{}: \"{}\" is neither the name nor the id of a node", fields.place(), field, text);
  }

  NodeIndex live_node(const Fields& fields, std::string_view field) const {
    const NodeIndex found = node(fields, field);
    if (failed_.contains(found)) {
      refuse("{}{}: \"{}\" has failed in a step before this one", fields.place(), field,
             scenario_.nodes[found].name);
    }
    return found;
  }

  const Scenario& scenario_;
  std::map<std::string, NodeIndex> by_name_;
  std::map<Id, NodeIndex> by_id_;
  std::map<std::string, NodeIndex> creators_;  // by group
  std::set<NodeIndex> failed_;
};

}  // namespace

std::string_view name_of(Scenario::Op op) {
  for (const auto& [known, name] : ops) {
    if (known == op) return name;
  }
  return {};
}

Scenario parse_scenario(std::string_view text) {
  json::error_code error;
  const json::value value = json::parse(json::string_view(text), error);
  if (error) refuse("not JSON: {}", error.message());
  const Fields top(value, "");
  Scenario scenario;
  read_constants(top, scenario);
  read_nodes(top, scenario);
  StepReader reader(scenario);
  const json::array& steps = top.list("steps");
  for (std::size_t i = 0; i < steps.size(); ++i) scenario.steps.push_back(reader.read(steps[i], i));
  return scenario;
}

}  // namespace canopy::sim
