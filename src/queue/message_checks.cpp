#include "queue/message_checks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/text.hpp"
#include "queue/policy.hpp"

namespace canopy::queue {

namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Error invalid(std::string message) {
  return {ErrorCode::invalid_parameter_value, std::move(message)};
}

std::uint32_t code_point(std::string_view character) {
  const auto first = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return first;
  std::uint32_t value = first & (0xffU >> (character.size() + 1));
  for (const char byte : character.substr(1)) {
    value = value << 6 | (static_cast<std::uint8_t>(byte) & 0x3fU);
  }
  return value;
}

// The characters of XML 1.0, which every message has to be able to travel in.
bool is_xml(std::uint32_t point) {
  if (point < 0x20) return point == 0x9 || point == 0xa || point == 0xd;
  return point != 0xfffe && point != 0xffff;
}

// Eight characters from space to delete at the front. A byte below a space
// borrows, and so sets its own highest bit.
bool starts_plain(std::string_view text) {
  std::uint64_t bytes = 0;
  if (text.size() < sizeof bytes) return false;
  std::memcpy(&bytes, text.data(), sizeof bytes);
  return ((bytes | (bytes - 0x2020'2020'2020'2020U)) & 0x8080'8080'8080'8080U) == 0;
}

// The first character that XML cannot carry, or that is none.
std::optional<std::uint32_t> first_forbidden(std::string_view text) {
  while (!text.empty()) {
    if (starts_plain(text)) {
      text.remove_prefix(sizeof(std::uint64_t));
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(text[0]);
    if (byte >= 0x20 && byte < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t size = utf8_size(text);
    if (size == 0) return byte;
    const std::uint32_t point = code_point(text.substr(0, size));
    if (!is_xml(point)) return point;
    text.remove_prefix(size);
  }
  return std::nullopt;
}

std::optional<Error> check_text(std::string_view text, ErrorCode code, std::string_view where) {
  const auto forbidden = first_forbidden(text);
  if (!forbidden) return std::nullopt;
  return Error{code, fmt::format("Invalid binary character '#x{:X}' was found in the {}, the set "
                                 "of allowed characters is #x9 | #xA | #xD | #x20 to #xD7FF | "
                                 "#xE000 to #xFFFD | #x10000 to #x10FFFF",
                                 *forbidden, where)};
}

// Letters of other scripts, roughly: what Latin-1 has before them are signs.
bool is_foreign_letter(std::uint32_t point) {
  constexpr std::uint32_t first = 0xc0;
  constexpr std::uint32_t times = 0xd7;
  constexpr std::uint32_t divided = 0xf7;
  return point >= first && point != times && point != divided && is_xml(point);
}

bool is_name_character(std::string_view character) {
  const char c = character[0];
  if (character.size() > 1) return is_foreign_letter(code_point(character));
  return is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
}

bool has_name_characters(std::string_view name) {
  while (!name.empty()) {
    const std::size_t size = utf8_size(name);
    if (size == 0 || !is_name_character(name.substr(0, size))) return false;
    name.remove_prefix(size);
  }
  return true;
}

std::optional<Error> check_attribute_name(const std::string& name, const Limits& limits) {
  if (name.empty()) {
    return invalid("The request must contain non-empty message (user) attribute names.");
  }
  if (name.size() > limits.attribute_name_max) {
    return invalid(fmt::format("Message (user) attribute name must be shorter than {} bytes.",
                               limits.attribute_name_max));
  }
  if (matches_pattern("aws.*", name) || matches_pattern("amazon.*", name)) {
    return invalid(
        "You can't use message attribute names beginning with 'AWS.' or 'Amazon'. These strings "
        "are reserved for internal use.");
  }
  if (name.front() == '.' || name.back() == '.' || name.find("..") != name.npos ||
      !has_name_characters(name)) {
    return invalid(fmt::format(
        "Message (user) attribute name '{}' is invalid. It can contain A-Z, a-z, 0-9, underscore "
        "(_), hyphen (-), and period (.), and must not start or end with a period or contain "
        "consecutive periods.",
        name));
  }
  return std::nullopt;
}

// Digits with at most one point, a sign before and an exponent behind.
bool is_number(std::string_view text) {
  const auto digits = [&text] {
    const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(size);
    return size;
  };
  const auto sign = [&text] {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  };
  sign();
  std::size_t found = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    found += digits();
  }
  if (found == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    sign();
    if (digits() == 0) return false;
  }
  return text.empty();
}

std::optional<Error> check_attribute(const std::string& name, const MessageAttribute& attribute,
                                     const Limits& limits) {
  if (auto error = check_attribute_name(name, limits)) return error;
  if (attribute.type.empty()) {
    return invalid(fmt::format(
        "The message (user) attribute '{}' must contain a non-empty message attribute type.",
        name));
  }
  const std::string_view type =
      std::string_view(attribute.type).substr(0, attribute.type.find('.'));
  if (type != "String" && type != "Number" && type != "Binary") {
    return invalid(
        fmt::format("The type of message (user) attribute '{}' is invalid. You must use only the "
                    "following supported type prefixes: Binary, Number, String.",
                    name));
  }
  if (attribute.type.size() > limits.attribute_name_max) {
    return invalid(fmt::format("Message (user) attribute type must be shorter than {} bytes.",
                               limits.attribute_name_max));
  }
  if (attribute.value.empty() || attribute.binary != (type == "Binary")) {
    return invalid(fmt::format(
        "Message (user) attribute '{}' must contain a non-empty value of type '{}'.", name, type));
  }
  if (type == "Number" && !is_number(attribute.value)) {
    return invalid(
        fmt::format("Can't cast the value of message (user) attribute '{}' to a number.", name));
  }
  if (attribute.binary) return std::nullopt;
  return check_text(attribute.value, ErrorCode::invalid_parameter_value,
                    "message attribute '" + name + "'");
}

}  // namespace

std::size_t size_of(const SendEntry& entry) noexcept {
  std::size_t size = entry.body.size();
  for (const auto& [name, attribute] : entry.attributes) {
    size += name.size() + attribute.type.size() + attribute.value.size();
  }
  return size;
}

bool is_message_text(std::string_view text) { return !first_forbidden(text); }

std::optional<Error> check_body(std::string_view body) {
  if (body.empty()) return missing_parameter("MessageBody");
  return check_text(body, ErrorCode::invalid_message_contents, "message body");
}

std::optional<Error> check_message_attributes(const MessageAttributes& attributes,
                                              const Limits& limits) {
  if (attributes.size() > limits.message_attributes_max) {
    return invalid(
        fmt::format("Number of message attributes [{}] exceeds the allowed maximum [{}].",
                    attributes.size(), limits.message_attributes_max));
  }
  for (const auto& [name, attribute] : attributes) {
    if (auto error = check_attribute(name, attribute, limits)) return error;
  }
  return std::nullopt;
}

std::optional<Error> check_message_token(std::string_view parameter, std::string_view value,
                                         const Limits& limits) {
  const bool valid = !value.empty() && value.size() <= limits.group_id_max &&
                     std::ranges::all_of(value, [](char c) { return c > 0x20 && c < 0x7f; });
  if (valid) return std::nullopt;
  return invalid(fmt::format(
      "Value {} for parameter {} is invalid. Reason: {} can only include alphanumeric and "
      "punctuation characters. 1 to {} in length.",
      value, parameter, parameter, limits.group_id_max));
}

bool is_queue_name(std::string_view name, bool fifo, const Limits& limits) {
  constexpr std::string_view suffix = ".fifo";
  if (name.empty() || name.size() > limits.queue_name_max) return false;
  if (fifo) {
    if (!name.ends_with(suffix)) return false;
    name.remove_suffix(suffix.size());
  }
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '_';
  });
}

}  // namespace canopy::queue
