#include "queue/attributes.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <boost/json.hpp>

#include "queue/policy.hpp"

namespace canopy::queue {

namespace {

enum class Kind : std::uint8_t { number, boolean, text, policy, redrive, redrive_allow, choice };

struct Row {
  std::string_view name;
  Kind kind;
  Range Limits::*range = nullptr;
  bool fifo_only = false;
  std::string_view usual = {};  // empty: not shown unless set
  std::array<std::string_view, 2> choices = {};
};

constexpr Range partitions{1, 100, 100};
constexpr Range shards{1, 100, 1};

constexpr auto rows = std::to_array<Row>({
    {"ContentBasedDeduplication", Kind::boolean, nullptr, true, "false"},
    {"DeduplicationScope", Kind::choice, nullptr, true, "queue", {"queue", "messageGroup"}},
    {"DelaySeconds", Kind::number, &Limits::delay_s},
    {"FifoQueue", Kind::boolean, nullptr, true, "true"},
    {"FifoThroughputLimit",
     Kind::choice,
     nullptr,
     true,
     "perQueue",
     {"perQueue", "perMessageGroupId"}},
    {"IsCompressed", Kind::boolean},
    {"KmsDataKeyReusePeriodSeconds", Kind::number, &Limits::kms_reuse_s},
    {"KmsMasterKeyId", Kind::text},
    {"MaximumMessageSize", Kind::number, &Limits::maximum_message_size},
    {"MessageRetentionPeriod", Kind::number, &Limits::retention_s},
    {"NumberOfPartitions", Kind::number},
    {"NumberOfShards", Kind::number},
    {"Policy", Kind::policy},
    {"ReceiveMessageWaitTimeSeconds", Kind::number, &Limits::wait_s},
    {"RedriveAllowPolicy", Kind::redrive_allow},
    {"RedrivePolicy", Kind::redrive},
    {"SqsManagedSseEnabled", Kind::boolean, nullptr, false, "true"},
    {"VisibilityTimeout", Kind::number, &Limits::visibility_timeout_s},
});

constexpr auto read_only = std::to_array<std::string_view>({
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
    "CreatedTimestamp",
    "LastModifiedTimestamp",
    "QueueArn",
});

const Row* row_of(std::string_view name) {
  const auto row = std::ranges::find(rows, name, &Row::name);
  return row == rows.end() ? nullptr : &*row;
}

Range range_of(const Row& row, const Limits& limits) {
  if (row.range != nullptr) return limits.*row.range;
  return row.name == "NumberOfShards" ? shards : partitions;
}

bool shown_unless_set(const Row& row, bool fifo) {
  if (row.fifo_only && !fifo) return false;
  return row.range != nullptr ? row.range != &Limits::kms_reuse_s : !row.usual.empty();
}

std::string usual_value(const Row& row, const Limits& limits) {
  return row.range != nullptr ? std::to_string((limits.*row.range).usual) : std::string(row.usual);
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

Error invalid_value(std::string_view name) {
  return {ErrorCode::invalid_attribute_value,
          "Invalid value for the parameter " + std::string(name) + "."};
}

Error unknown(std::string_view name) {
  const bool high_throughput = name == "DeduplicationScope" || name == "FifoThroughputLimit";
  return {ErrorCode::invalid_attribute_name,
          high_throughput
              ? "You can specify the " + std::string(name) + " only when FifoQueue is set to true."
              : "Unknown Attribute " + std::string(name) + "."};
}

// What a queue is cannot be changed.
std::optional<Error> check_kind(std::string_view value, bool creating) {
  if (value == "true") return {};
  Error error = invalid_value("FifoQueue");
  if (!creating) error.message += " Reason: Modifying queue type is not supported.";
  return error;
}

// The two kinds of encryption at rest exclude each other.
std::optional<Error> check_encryption(const Attributes& given) {
  const auto key = given.find("KmsMasterKeyId");
  const auto own = given.find("SqsManagedSseEnabled");
  const bool both =
      key != given.end() && !key->second.empty() && own != given.end() && own->second == "true";
  if (!both) return {};
  return Error{ErrorCode::invalid_attribute_name,
               "You can use one type of server-side encryption (SSE) at one time. You can either "
               "enable KMS SSE or SQS SSE."};
}

std::optional<Error> check_value(const Row& row, const std::string& value, const Limits& limits) {
  switch (row.kind) {
    case Kind::number: {
      const auto number = parse_number(value);
      if (!number || !range_of(row, limits).contains(*number)) return invalid_value(row.name);
      return {};
    }
    case Kind::boolean:
      if (value != "true" && value != "false") return invalid_value(row.name);
      return {};
    case Kind::choice:
      if (std::ranges::find(row.choices, value) == row.choices.end())
        return invalid_value(row.name);
      return {};
    case Kind::policy:
      if (!Policy::parse(value) || statement_count(value) > limits.permission_statements_max)
        return invalid_value(row.name);
      return {};
    case Kind::redrive: {
      const auto parsed = parse_redrive_policy(value, limits);
      return parsed ? std::nullopt : std::optional(parsed.error());
    }
    case Kind::redrive_allow: {
      const auto parsed = parse_redrive_allow_policy(value, limits);
      return parsed ? std::nullopt : std::optional(parsed.error());
    }
    case Kind::text: return {};
  }
  return {};
}

// An empty value unsets these.
bool may_be_empty(Kind kind) {
  return kind == Kind::policy || kind == Kind::redrive || kind == Kind::redrive_allow ||
         kind == Kind::text;
}

std::string value_of(const Attributes& set, std::string_view name, const Limits& limits) {
  const auto found = set.find(std::string(name));
  return found != set.end() ? found->second : usual_value(*row_of(name), limits);
}

std::int64_t number_of(const Attributes& set, std::string_view name, const Limits& limits) {
  return parse_number(value_of(set, name, limits)).value_or(0);
}

// What JSON says, whatever its spelling.
bool same_value(Kind kind, const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (kind != Kind::policy && kind != Kind::redrive && kind != Kind::redrive_allow) return false;
  boost::system::error_code error;
  const auto left = boost::json::parse(a, error);
  if (error) return false;
  const auto right = boost::json::parse(b, error);
  return !error && left == right;
}

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  return text;
}

}  // namespace

Attributes normalised(Attributes given) {
  for (auto& [name, value] : given) {
    const Row* row = row_of(name);
    if (row == nullptr) continue;
    if (row->kind == Kind::boolean) value = in_lower_case(std::move(value));
    if (row->kind == Kind::redrive) value = with_count_as_number(std::move(value));
  }
  return given;
}

std::optional<Error> check_attributes(const Attributes& given, bool fifo, bool creating,
                                      const Limits& limits) {
  for (const auto& [name, value] : given) {
    const Row* row = row_of(name);
    if (row == nullptr || (row->fifo_only && !fifo)) return unknown(name);
    if (value.empty() && may_be_empty(row->kind)) continue;
    if (auto error = check_value(*row, value, limits)) return error;
    if (row->name == "FifoQueue") {
      if (auto error = check_kind(value, creating)) return error;
    }
  }
  return check_encryption(given);
}

Settings settings_of(const Attributes& set, bool fifo, const Limits& limits) {
  Settings settings;
  settings.fifo = fifo;
  if (fifo) {
    settings.content_based_deduplication =
        value_of(set, "ContentBasedDeduplication", limits) == "true";
    settings.deduplicate_by_group = value_of(set, "DeduplicationScope", limits) == "messageGroup";
  }
  settings.visibility_ms = number_of(set, "VisibilityTimeout", limits) * second_ms;
  settings.delay_ms = number_of(set, "DelaySeconds", limits) * second_ms;
  settings.retention_ms = number_of(set, "MessageRetentionPeriod", limits) * second_ms;
  settings.wait_ms = number_of(set, "ReceiveMessageWaitTimeSeconds", limits) * second_ms;
  settings.message_bytes_max =
      static_cast<std::size_t>(number_of(set, "MaximumMessageSize", limits));
  if (const auto found = set.find("RedrivePolicy"); found != set.end()) {
    if (const auto parsed = parse_redrive_policy(found->second, limits)) settings.redrive = *parsed;
  }
  if (const auto found = set.find("RedriveAllowPolicy"); found != set.end()) {
    const auto parsed = parse_redrive_allow_policy(found->second, limits);
    if (parsed) settings.redrive_allow = *parsed;
  }
  return settings;
}

Attributes merged(Attributes set, const Attributes& changes) {
  for (const auto& [name, value] : changes) {
    if (value.empty()) {
      set.erase(name);
    } else {
      set[name] = value;
    }
  }
  // The two kinds of encryption at rest exclude each other.
  const auto named = [](const Attributes& attributes, const char* name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? std::string() : found->second;
  };
  if (!named(changes, "KmsMasterKeyId").empty()) {
    set["SqsManagedSseEnabled"] = "false";
  } else if (named(changes, "SqsManagedSseEnabled") == "true") {
    set.erase("KmsMasterKeyId");
    set.erase("KmsDataKeyReusePeriodSeconds");
  }
  return set;
}

std::optional<std::string> first_difference(const Attributes& set, const Attributes& given,
                                            bool fifo, const Limits& limits) {
  Attributes before = shown_attributes(set, fifo, limits);
  before.insert(set.begin(), set.end());
  for (const auto& [name, value] : given) {
    const auto found = before.find(name);
    const std::string& old = found == before.end() ? std::string() : found->second;
    if (!same_value(row_of(name)->kind, old, value)) return name;
  }
  return {};
}

Attributes shown_attributes(const Attributes& set, bool fifo, const Limits& limits) {
  Attributes shown = set;
  for (const Row& row : rows) {
    if (!shown_unless_set(row, fifo)) continue;
    shown.try_emplace(std::string(row.name), usual_value(row, limits));
  }
  if (shown.contains("KmsMasterKeyId")) {
    shown.try_emplace("KmsDataKeyReusePeriodSeconds", std::to_string(limits.kms_reuse_s.usual));
  } else {
    shown.erase("KmsDataKeyReusePeriodSeconds");
  }
  return shown;
}

bool is_attribute_name(std::string_view name) {
  return name == "All" || row_of(name) != nullptr ||
         std::ranges::find(read_only, name) != read_only.end();
}

}  // namespace canopy::queue
