#include "queue/multicast_entry.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "queue/message_checks.hpp"

namespace canopy::queue {

namespace {

constexpr std::string_view own_prefix = "canopy.";

bool add_header(MessageAttributes& attributes, const std::string& key, const std::string& value,
                const Limits& limits) {
  if (attributes.size() >= limits.message_attributes_max || key.starts_with(own_prefix))
    return false;
  const bool text = is_message_text(value);
  MessageAttribute attribute{text ? "String" : "Binary", !text, value};
  if (check_message_attributes({{key, attribute}}, limits)) return false;
  return attributes.emplace(key, std::move(attribute)).second;
}

}  // namespace

MessageAttributes attributes_of(const MulticastId& id, std::string_view shown_group) {
  return {{"canopy.group", {"String", false, std::string(shown_group)}},
          {"canopy.publisher", {"String", false, id.publisher.to_hex()}},
          {"canopy.incarnation", {"Number", false, std::to_string(id.incarnation)}},
          {"canopy.sequence", {"Number", false, std::to_string(id.sequence)}}};
}

MulticastEntry entry_of(Multicast multicast, std::string_view shown_group, bool fifo,
                        const Limits& limits) {
  MulticastEntry made;
  SendEntry& entry = made.entry;
  entry.attributes = attributes_of(multicast.id, shown_group);
  made.encoded = !is_message_text(multicast.body.view());
  if (made.encoded) {
    entry.attributes["canopy.encoding"] = {"String", false, "base64"};
    entry.body = Buffer::copy_of(to_base64(multicast.body.view()));
  } else {
    entry.body = std::move(multicast.body);
  }
  for (const auto& [key, value] : multicast.headers)
    if (!add_header(entry.attributes, key, value, limits)) ++made.headers_left_out;
  if (fifo) {
    entry.group_id = multicast.id.publisher.to_hex();
    entry.deduplication_id =
        fmt::format("{}-{}-{}", *entry.group_id, multicast.id.incarnation, multicast.id.sequence);
  }
  return made;
}

}  // namespace canopy::queue
