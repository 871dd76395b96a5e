#include "queue/message_record.hpp"

#include <cstring>
#include <memory>

#include "queue/bytes.hpp"

namespace canopy::queue {

namespace {

constexpr std::uint8_t message_record_version = 1;

enum Field : std::uint64_t {
  no_field = 0,
  has_delay = 1,
  has_first_received = 2,
  has_group = 4,
  has_deduplication = 8,
  has_trace = 16,
  has_dead_letter_source = 32,
  has_attributes = 64,
  has_receives = 128,
  all_fields = 255,
};

std::uint64_t fields_of(const MessageRecord& message) {
  std::uint64_t fields = no_field;
  if (message.delay != 0) fields |= has_delay;
  if (message.first_received != 0) fields |= has_first_received;
  if (message.group_id) fields |= has_group;
  if (message.deduplication_id) fields |= has_deduplication;
  if (message.trace_header) fields |= has_trace;
  if (!message.dead_letter_source.empty()) fields |= has_dead_letter_source;
  if (!message.attributes.empty()) fields |= has_attributes;
  if (message.receives != 0) fields |= has_receives;
  return fields;
}

void write_attributes(ByteWriter& out, const MessageAttributes& attributes) {
  out.varint(attributes.size());
  for (const auto& [name, attribute] : attributes) {
    out.text(name);
    out.text(attribute.type);
    out.u8(attribute.binary ? 1 : 0);
    out.text(attribute.value);
  }
}

MessageAttributes read_attributes(ByteReader& in) {
  MessageAttributes attributes;
  for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
    std::string name(in.text());
    MessageAttribute attribute;
    attribute.type = in.text();
    attribute.binary = in.u8() != 0;
    attribute.value = in.text();
    attributes.emplace_hint(attributes.end(), std::move(name), std::move(attribute));
  }
  return attributes;
}

// The part before the times: nothing if the version is not ours.
std::optional<std::uint64_t> read_start(ByteReader& in, std::string_view& id,
                                        std::string_view& md5) {
  if (in.u8() != message_record_version) return std::nullopt;
  const std::uint64_t fields = in.varint();
  id = in.raw(16);
  md5 = in.raw(16);
  if (!in.ok() || (fields & ~std::uint64_t{all_fields}) != 0) return std::nullopt;
  return fields;
}

}  // namespace

Buffer encode(const MessageRecord& message) {
  const std::uint64_t fields = fields_of(message);
  ByteWriter out;
  out.reserve(96);
  out.u8(message_record_version);
  out.varint(fields);
  out.raw({reinterpret_cast<const char*>(message.id.bytes.data()), message.id.bytes.size()});
  out.raw(bytes_of(message.body_md5));
  out.varint(static_cast<std::uint64_t>(message.sent));
  out.text(message.sender);
  if ((fields & has_delay) != 0) out.varint(static_cast<std::uint64_t>(message.delay));
  if ((fields & has_first_received) != 0) {
    out.varint(static_cast<std::uint64_t>(message.first_received));
  }
  if ((fields & has_group) != 0) out.text(*message.group_id);
  if ((fields & has_deduplication) != 0) out.text(*message.deduplication_id);
  if ((fields & has_trace) != 0) out.text(*message.trace_header);
  if ((fields & has_dead_letter_source) != 0) out.text(message.dead_letter_source);
  if ((fields & has_attributes) != 0) write_attributes(out, message.attributes);
  if ((fields & has_receives) != 0) out.varint(message.receives);

  const std::size_t size = out.size() + message.body.size();
  const auto slab = std::make_shared_for_overwrite<char[]>(size);
  std::memcpy(slab.get(), out.view().data(), out.size());
  message.body.view().copy(slab.get() + out.size(), message.body.size());
  return {slab, 0, size};
}

std::optional<MessageRecord> decode_message(const Buffer& record) {
  ByteReader in(record.view());
  std::string_view id;
  std::string_view md5;
  const auto fields = read_start(in, id, md5);
  if (!fields) return std::nullopt;
  MessageRecord message;
  std::memcpy(message.id.bytes.data(), id.data(), id.size());
  std::memcpy(message.body_md5.data(), md5.data(), md5.size());
  message.sent = static_cast<Millis>(in.varint());
  message.sender = in.text();
  if ((*fields & has_delay) != 0) message.delay = static_cast<Millis>(in.varint());
  if ((*fields & has_first_received) != 0) {
    message.first_received = static_cast<Millis>(in.varint());
  }
  if ((*fields & has_group) != 0) message.group_id.emplace(in.text());
  if ((*fields & has_deduplication) != 0) message.deduplication_id.emplace(in.text());
  if ((*fields & has_trace) != 0) message.trace_header.emplace(in.text());
  if ((*fields & has_dead_letter_source) != 0) message.dead_letter_source = in.text();
  if ((*fields & has_attributes) != 0) message.attributes = read_attributes(in);
  if ((*fields & has_receives) != 0) message.receives = static_cast<std::uint32_t>(in.varint());
  if (!in.ok()) return std::nullopt;
  message.body = record.slice(record.size() - in.rest().size(), in.rest().size());
  return message;
}

std::optional<MessageTimes> times_of(std::string_view record) {
  ByteReader in(record);
  std::string_view id;
  std::string_view md5;
  const auto fields = read_start(in, id, md5);
  if (!fields) return std::nullopt;
  MessageTimes times;
  times.sent = static_cast<Millis>(in.varint());
  in.text();  // sender
  if ((*fields & has_delay) != 0) times.delay = static_cast<Millis>(in.varint());
  if ((*fields & has_first_received) != 0) times.first_received = static_cast<Millis>(in.varint());
  return in.ok() ? std::optional(times) : std::nullopt;
}

}  // namespace canopy::queue
