#include "gateway/json_request.hpp"

#include <cmath>
#include <cstdint>
#include <forward_list>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/throw_exception.hpp>

#include "base/base64.hpp"

namespace canopy::gateway {

namespace json = boost::json;

namespace {

// What AWS's services call a value of the wrong kind.
std::string unexpected(const json::value& value, std::string_view wanted) {
  switch (value.kind()) {
    case json::kind::object: return "Start of structure or map found where not expected.";
    case json::kind::array: return "Start of list found where not expected";
    case json::kind::string: return fmt::format("STRING_VALUE can not be converted to {}", wanted);
    case json::kind::bool_:
      return fmt::format("{}_VALUE can not be converted to {}", value.get_bool() ? "TRUE" : "FALSE",
                         wanted);
    case json::kind::null: return "NULL_VALUE found where not expected.";
    default: return fmt::format("NUMBER_VALUE can not be converted to {}", wanted);
  }
}

// What all views of a request share.
struct JsonRequest {
  FieldErrors errors;
  std::forward_list<std::string> texts;  // of values that are none
};

class JsonFields {
 public:
  static constexpr bool prefers_older_names = false;

  JsonFields(const json::object& object, JsonRequest& request)
      : object_(&object), request_(&request), errors_(&request.errors) {}

  std::optional<std::string_view> text(MemberName name) const {
    const json::value* value = member(name);
    return value ? text_of(*value) : std::nullopt;
  }

  std::optional<std::int64_t> integer(MemberName name) const {
    const json::value* value = member(name);
    if (!value) return std::nullopt;
    if (value->is_int64()) return value->get_int64();
    // Beyond what a 64-bit integer holds every limit is passed anyway.
    if (value->is_uint64()) return std::numeric_limits<std::int64_t>::max();
    if (value->is_double() && std::abs(value->get_double()) < 9e15)
      return static_cast<std::int64_t>(value->get_double());
    errors_->add(serialization_failure(unexpected(*value, "an Integer")));
    return std::nullopt;
  }

  std::optional<bool> boolean(MemberName name) const {
    const json::value* value = member(name);
    if (!value) return std::nullopt;
    if (value->is_bool()) return value->get_bool();
    errors_->add(serialization_failure(unexpected(*value, "a Boolean")));
    return std::nullopt;
  }

  std::optional<std::string> blob(MemberName name) const {
    const auto encoded = text(name);
    if (!encoded) return std::nullopt;
    auto bytes = from_base64(*encoded);
    if (!bytes)
      errors_->add(serialization_failure(fmt::format("{} is not valid base64", name.json)));
    return bytes;
  }

  std::vector<std::string> texts(MemberName name) const {
    std::vector<std::string> texts;
    if (const json::array* array = list(name))
      for (const json::value& value : *array)
        if (const auto text = text_of(value)) texts.emplace_back(*text);
    return texts;
  }

  std::map<std::string, std::string> text_map(MemberName name, std::string_view = {}) const {
    std::map<std::string, std::string> texts;
    if (const json::object* object = structure(member(name)))
      for (const auto& [key, value] : *object)
        if (!value.is_null())
          if (const auto text = text_of(value)) texts.insert_or_assign(std::string(key), *text);
    return texts;
  }

  template <class Use>
  std::size_t structures(MemberName name, Use use) const {
    const json::array* array = list(name);
    if (!array) return 0;
    std::size_t number = 0;
    for (const json::value& value : *array)
      if (const json::object* object = structure(&value))
        use(JsonFields(*object, *request_), ++number);
    return array->size();
  }

  template <class Use>
  void named_structures(MemberName name, Use use) const {
    if (const json::object* object = structure(member(name)))
      for (const auto& [key, value] : *object)
        if (const json::object* inner = structure(&value))
          use(std::string(key), JsonFields(*inner, *request_));
  }

 private:
  const json::value* member(MemberName name) const {
    if (errors_->any()) return nullptr;
    const json::value* value = object_->if_contains(name.json);
    return value && !value->is_null() ? value : nullptr;
  }

  // A number or a boolean stands for its text, as with AWS.
  std::optional<std::string_view> text_of(const json::value& value) const {
    if (value.is_string()) return std::string_view(value.get_string());
    if (value.is_double()) return request_->texts.emplace_front(fmt::to_string(value.get_double()));
    if (value.is_number() || value.is_bool())
      return request_->texts.emplace_front(json::serialize(value));
    errors_->add(serialization_failure(unexpected(value, "a String")));
    return std::nullopt;
  }

  const json::array* list(MemberName name) const {
    const json::value* value = member(name);
    if (!value || value->is_array()) return value ? &value->get_array() : nullptr;
    errors_->add(serialization_failure("Expected list or null"));
    return nullptr;
  }

  const json::object* structure(const json::value* value) const {
    if (!value || value->is_object()) return value ? &value->get_object() : nullptr;
    errors_->add(serialization_failure("Expected map or structure or null"));
    return nullptr;
  }

  const json::object* object_;
  JsonRequest* request_;
  FieldErrors* errors_;
};

// Entries of a batch, their attributes, an attribute, a list in it.
constexpr std::size_t depth_max = 8;

json::parse_options parse_options() {
  json::parse_options options;
  options.max_depth = depth_max;
  return options;
}

}  // namespace

void throw_exception_from_error(const Failure& failure, const boost::source_location& where) {
  boost::throw_exception(std::runtime_error(failure.message), where);
}

ActionOrFailure read_json_request(std::string_view action, std::string_view body,
                                  const ReadContext& context) {
  unsigned char first_block[8'192];
  json::monotonic_resource memory(first_block, sizeof first_block);
  unsigned char stack[4'096];
  json::parser parser(json::storage_ptr(), parse_options(), stack);
  parser.reset(&memory);
  boost::system::error_code error;
  parser.write(body.empty() ? std::string_view("{}") : body, error);
  if (error)
    return serialization_failure(fmt::format("The request is not valid JSON: {}", error.message()));
  const json::value root = parser.release();
  if (!root.is_object()) return serialization_failure("Expected a structure");

  JsonRequest request;
  ActionReader<JsonFields> reader(JsonFields(root.get_object(), request), context, request.errors);
  auto read = reader.read(action);
  if (request.errors.any()) return request.errors.take();
  if (!read) return unknown_operation();
  return *std::move(read);
}

}  // namespace canopy::gateway
