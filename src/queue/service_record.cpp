#include "queue/service_record.hpp"

#include <algorithm>

#include "queue/bytes.hpp"

namespace canopy::queue {

namespace {
constexpr std::uint8_t service_record_version = 1;
constexpr std::size_t origins_max = 64;
}  // namespace

bool ServiceRecord::take(const Command& command) {
  const auto found = std::ranges::find(last_commands, command.origin, &LastCommand::origin);
  if (found == last_commands.end()) {
    if (last_commands.size() >= origins_max) last_commands.erase(last_commands.begin());
    last_commands.push_back({command.origin, command.sequence});
    return true;
  }
  if (command.sequence <= found->sequence) return false;
  found->sequence = command.sequence;
  std::rotate(found, found + 1, last_commands.end());
  return true;
}

std::string encode(const ServiceRecord& record) {
  ByteWriter out;
  out.u8(service_record_version);
  out.varint(record.queues);
  out.varint(record.tasks);
  out.varint(record.outbox);
  out.varint(record.outbox_delivered);
  out.varint(record.term);
  out.zigzag(record.time);
  out.varint(record.key_id);
  out.raw({record.key.data(), record.key.size()});
  out.varint(record.last_commands.size());
  for (const auto& last : record.last_commands) {
    out.u64(last.origin.peer);
    out.varint(last.origin.incarnation);
    out.varint(last.sequence);
  }
  return out.take();
}

std::optional<ServiceRecord> decode_service_record(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u8() != service_record_version) return std::nullopt;
  ServiceRecord record;
  record.queues = in.varint();
  record.tasks = in.varint();
  record.outbox = in.varint();
  record.outbox_delivered = in.varint();
  record.term = in.varint();
  record.time = in.zigzag();
  record.key_id = in.varint();
  std::ranges::copy(in.raw(record.key.size()), record.key.begin());
  for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
    ServiceRecord::LastCommand last;
    last.origin.peer = in.u64();
    last.origin.incarnation = in.varint();
    last.sequence = in.varint();
    record.last_commands.push_back(last);
  }
  return in.finished() ? std::optional(record) : std::nullopt;
}

}  // namespace canopy::queue
