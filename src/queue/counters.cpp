#include "queue/counters.hpp"

#include "queue/bytes.hpp"

namespace canopy::queue {

namespace {
constexpr std::uint8_t counters_version = 1;
}

std::string encode(const Counters& counters) {
  ByteWriter out;
  out.reserve(64);
  out.u8(counters_version);
  out.varint(counters.next_sequence);
  out.varint(counters.messages);
  out.varint(counters.purged_before);
  out.zigzag(counters.head.time);
  out.varint(counters.head.sequence);
  out.u8(counters.noted ? 1 : 0);
  out.u8(counters.grouped ? 1 : 0);
  out.zigzag(counters.delayed_until);
  out.zigzag(counters.housekeeping);
  out.zigzag(counters.purged_at);
  out.zigzag(counters.deduplicated_at);
  return out.take();
}

std::optional<Counters> decode_counters(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u8() != counters_version) return std::nullopt;
  Counters counters;
  counters.next_sequence = in.varint();
  counters.messages = in.varint();
  counters.purged_before = in.varint();
  counters.head.time = in.zigzag();
  counters.head.sequence = in.varint();
  counters.noted = in.u8() != 0;
  counters.grouped = in.u8() != 0;
  counters.delayed_until = in.zigzag();
  counters.housekeeping = in.zigzag();
  counters.purged_at = in.zigzag();
  counters.deduplicated_at = in.zigzag();
  return in.finished() ? std::optional(counters) : std::nullopt;
}

}  // namespace canopy::queue
