#include "gateway/query_request.hpp"

#include <charconv>
#include <cstdint>
#include <map>
#include <utility>

#include "base/base64.hpp"

namespace canopy::gateway {

namespace {

using Node = QueryTree::Node;

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return std::nullopt;
}

// The elements of a list, or the entries of a map, by their numbers.
std::vector<const Node*> elements_of(const Node* list) {
  if (!list) return {};
  if (const Node* member = list->child("member")) list = member;
  std::vector<std::pair<std::uint32_t, const Node*>> numbered;
  for (const Node& child : list->children)
    if (const auto number = number_of<std::uint32_t>(child.name))
      numbered.emplace_back(*number, &child);
  std::stable_sort(numbered.begin(), numbered.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Node*> elements;
  elements.reserve(numbered.size());
  for (const auto& [number, node] : numbered) elements.push_back(node);
  // A single element may go without its number.
  if (elements.empty()) elements.push_back(list);
  return elements;
}

class QueryFields {
 public:
  static constexpr bool prefers_older_names = true;

  QueryFields(const Node& node, FieldErrors& errors) : node_(&node), errors_(&errors) {}

  std::optional<std::string_view> text(MemberName name) const {
    if (errors_->any()) return std::nullopt;
    const Node* node = node_->child(name.query);
    return node ? node->value : std::nullopt;
  }

  std::optional<std::int64_t> integer(MemberName name) const {
    const auto value = text(name);
    if (!value || value->empty()) return std::nullopt;
    const auto number = number_of<std::int64_t>(*value);
    if (!number) errors_->add(invalid_parameter(*value, name.query, "Must be an integer."));
    return number;
  }

  std::optional<bool> boolean(MemberName name) const {
    const auto value = text(name);
    if (!value || value->empty()) return std::nullopt;
    const bool yes = *value == "true" || *value == "True" || *value == "1";
    if (!yes && *value != "false" && *value != "False" && *value != "0")
      errors_->add(invalid_parameter(*value, name.query, "Must be true or false."));
    return yes;
  }

  std::optional<std::string> blob(MemberName name) const {
    const auto encoded = text(name);
    if (!encoded) return std::nullopt;
    std::string restored(*encoded);  // base64 has '+', which some do not escape
    std::replace(restored.begin(), restored.end(), ' ', '+');
    auto bytes = from_base64(restored);
    if (!bytes) errors_->add(invalid_parameter(*encoded, name.query, "Not valid base64."));
    return bytes;
  }

  std::vector<std::string> texts(MemberName name) const {
    std::vector<std::string> texts;
    for (const Node* element : elements_of(list(name)))
      if (element->value) texts.emplace_back(*element->value);
    return texts;
  }

  std::map<std::string, std::string> text_map(MemberName name,
                                              std::string_view key_name = "Name") const {
    std::map<std::string, std::string> texts;
    for (const Node* element : elements_of(list(name))) {
      const Node* key = element->child(key_name);
      const Node* value = element->child("Value");
      if (key && key->value)
        texts.insert_or_assign(std::string(*key->value),
                               std::string(value ? value->value.value_or("") : ""));
    }
    return texts;
  }

  template <class Use>
  std::size_t structures(MemberName name, Use use) const {
    std::size_t number = 0;
    for (const Node* element : elements_of(list(name)))
      if (!element->children.empty()) use(QueryFields(*element, *errors_), ++number);
    return number;
  }

  template <class Use>
  void named_structures(MemberName name, Use use) const {
    for (const Node* element : elements_of(list(name))) {
      const Node* key = element->child("Name");
      const Node* value = element->child("Value");
      if (key && key->value) {
        const Node none{};
        use(std::string(*key->value), QueryFields(value ? *value : none, *errors_));
      }
    }
  }

 private:
  const Node* list(MemberName name) const {
    if (errors_->any()) return nullptr;
    const Node* node = node_->child(name.query);
    return node ? node : node_->child(name.json);
  }

  const Node* node_;
  FieldErrors* errors_;
};

}  // namespace

ActionOrFailure read_query_request(std::string_view action, const QueryTree& parameters,
                                   const ReadContext& context) {
  FieldErrors errors;
  ActionReader<QueryFields> reader(QueryFields(parameters.root(), errors), context, errors);
  auto read = reader.read(action);
  if (errors.any()) return errors.take();
  if (!read) return invalid_action(action);
  return *std::move(read);
}

}  // namespace canopy::gateway
