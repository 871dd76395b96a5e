#include "queue/redrive.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include <boost/json.hpp>

#include "queue/arn.hpp"

namespace canopy::queue {

namespace {

namespace json = boost::json;

Error refused(std::string_view attribute, std::string_view value, std::string_view reason) {
  return {ErrorCode::invalid_parameter_value, "Value " + std::string(value) + " for parameter " +
                                                  std::string(attribute) +
                                                  " is invalid. Reason: " + std::string(reason)};
}

Error malformed(std::string_view attribute, std::string_view reason) {
  return {ErrorCode::invalid_attribute_value, "Invalid value for the parameter " +
                                                  std::string(attribute) +
                                                  ". Reason: " + std::string(reason)};
}

// Whether it has no other members than these.
bool has_only(const json::object& object, std::initializer_list<std::string_view> names) {
  return std::all_of(object.begin(), object.end(), [&names](const auto& member) {
    const std::string_view key(member.key().data(), member.key().size());
    return std::ranges::find(names, key) != names.end();
  });
}

std::optional<json::object> parse_object(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

std::string string_of(const json::value& value) {
  if (!value.is_string()) return {};
  const auto& text = value.get_string();
  return {text.data(), text.size()};
}

// Numbers come as numbers or as text.
std::optional<std::int64_t> number_of(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  const std::string text = string_of(value);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

bool RedriveAllowPolicy::allows(const std::string& source_arn) const {
  switch (permission) {
    case Permission::allow_all: return true;
    case Permission::deny_all: return false;
    case Permission::by_queue: break;
  }
  return std::ranges::find(source_arns, source_arn) != source_arns.end();
}

std::string with_count_as_number(std::string policy) {
  auto object = parse_object(policy);
  if (!object) return policy;
  json::value* count = object->if_contains("maxReceiveCount");
  if (count == nullptr || !count->is_string()) return policy;
  const auto number = number_of(*count);
  if (!number) return policy;
  *count = *number;
  return json::serialize(*object);
}

boost::system::result<RedrivePolicy, Error> parse_redrive_policy(std::string_view text,
                                                                 const Limits& limits) {
  const auto fail = [&](std::string_view reason) { return refused("RedrivePolicy", text, reason); };
  const auto object = parse_object(text);
  if (!object) return malformed("RedrivePolicy", "Redrive policy is not a valid JSON map.");
  const json::value* receives = object->if_contains("maxReceiveCount");
  if (receives == nullptr) {
    return fail("Redrive policy does not contain mandatory attribute: maxReceiveCount.");
  }
  const json::value* target = object->if_contains("deadLetterTargetArn");
  if (target == nullptr) {
    return fail("Redrive policy does not contain mandatory attribute: deadLetterTargetArn.");
  }
  if (!has_only(*object, {"maxReceiveCount", "deadLetterTargetArn"})) {
    return fail("Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].");
  }
  const auto count = number_of(*receives);
  if (!count || !limits.receives_before_dead.contains(*count)) {
    return fail("Invalid value for maxReceiveCount: " +
                (count ? std::to_string(*count) : json::serialize(*receives)) +
                ", valid values are from " + std::to_string(limits.receives_before_dead.min) +
                " to " + std::to_string(limits.receives_before_dead.max) + " both inclusive.");
  }
  RedrivePolicy policy;
  policy.target_arn = string_of(*target);
  policy.receives_max = static_cast<std::uint32_t>(*count);
  const auto queue = parse_arn(policy.target_arn);
  if (!queue) {
    const bool other = policy.target_arn.starts_with("arn:") &&
                       policy.target_arn.find(":sqs:") == std::string::npos;
    return fail(other ? "Only SQS queues are valid resources for deadLetterTargetArn."
                      : "Invalid value for deadLetterTargetArn.");
  }
  policy.target = *queue;
  return policy;
}

boost::system::result<RedriveAllowPolicy, Error> parse_redrive_allow_policy(std::string_view text,
                                                                            const Limits& limits) {
  const auto fail = [&](std::string_view reason) {
    return refused("RedriveAllowPolicy", text,
                   "Amazon SQS can't create the redrive allow policy. " + std::string(reason));
  };
  const Error unsupported = malformed(
      "RedriveAllowPolicy",
      "Amazon SQS can't create the redrive allow policy, as it\u2019s in an unsupported format.");
  const auto object = parse_object(text);
  if (!object || !has_only(*object, {"redrivePermission", "sourceQueueArns"})) return unsupported;
  const json::value* permission = object->if_contains("redrivePermission");
  const json::value* sources = object->if_contains("sourceQueueArns");
  if (permission == nullptr || (sources != nullptr && !sources->is_array())) return unsupported;

  RedriveAllowPolicy policy;
  const std::string word = string_of(*permission);
  if (word == "denyAll") {
    policy.permission = RedriveAllowPolicy::Permission::deny_all;
  } else if (word == "byQueue") {
    policy.permission = RedriveAllowPolicy::Permission::by_queue;
  } else if (word != "allowAll") {
    return unsupported;
  }
  if (policy.permission != RedriveAllowPolicy::Permission::by_queue) {
    if (sources == nullptr) return policy;
    return fail(
        "To specify one or more source queue ARNs, you must set redrivePermission to byQueue.");
  }
  if (sources == nullptr || sources->get_array().empty()) {
    return fail(
        "When you specify the byQueue permission type, you must also specify one or more "
        "sourceQueueArns values.");
  }
  for (const json::value& source : sources->get_array()) {
    policy.source_arns.push_back(string_of(source));
    if (!parse_arn(policy.source_arns.back())) return unsupported;
  }
  if (policy.source_arns.size() > limits.redrive_sources_max) {
    return fail("The maximum number of source queue ARNs you can specify is " +
                std::to_string(limits.redrive_sources_max) + ".");
  }
  return policy;
}

}  // namespace canopy::queue
