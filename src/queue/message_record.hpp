// A message as it lies in the store: written once, by whoever takes the send,
// and copied from then on. The body comes last, so that it can be given out as a
// slice of the record.
//
//   u8 version | varint fields | id 16 | MD5 16 | varint sent | text sender |
//   what `fields` says, in the order of the struct | body
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/buffer.hpp"
#include "base/uuid.hpp"
#include "queue/actions.hpp"
#include "queue/limits.hpp"
#include "queue/md5.hpp"

namespace canopy::queue {

struct MessageRecord {
  Uuid id;
  Md5Digest body_md5{};
  Millis sent = 0;
  std::string sender;
  Millis delay = 0;
  Millis first_received = 0;  // in the queue that it was moved from; 0: never
  std::optional<std::string> group_id;
  std::optional<std::string> deduplication_id;
  std::optional<std::string> trace_header;
  std::string dead_letter_source;  // ARN; empty: it was never moved as a dead letter
  MessageAttributes attributes;
  std::uint32_t receives = 0;  // in the queue that it was moved from
  Buffer body;
};

Buffer encode(const MessageRecord& message);

// The body shares the record's slab. Nothing if it is damaged.
std::optional<MessageRecord> decode_message(const Buffer& record);

// Only what decides about a receive, without the rest.
struct MessageTimes {
  Millis sent = 0;
  Millis delay = 0;
  Millis first_received = 0;
};
std::optional<MessageTimes> times_of(std::string_view record);

}  // namespace canopy::queue
