#include "queue/keys.hpp"

#include "base/assert.hpp"
#include "queue/bytes.hpp"

namespace canopy::queue::keys {

namespace {

constexpr std::size_t number_size = 8;

ByteWriter start(Table table) {
  ByteWriter out;
  out.reserve(40);
  out.u8(static_cast<std::uint8_t>(table));
  return out;
}

ByteWriter start(Table table, QueueNumber queue, const BridgedGroup& group) {
  ByteWriter out = start(table);
  out.u64(queue);
  out.text(group.name);
  out.text(group.creator);
  return out;
}

}  // namespace

std::string of(Table table) { return start(table).take(); }

std::string of(Table table, std::uint64_t number) {
  ByteWriter out = start(table);
  out.u64(number);
  return out.take();
}

std::string of(Table table, std::uint64_t first, std::uint64_t second) {
  ByteWriter out = start(table);
  out.u64(first);
  out.u64(second);
  return out.take();
}

std::string of(Table table, QueueNumber queue, const Position& at) {
  ByteWriter out = start(table);
  out.u64(queue);
  out.u64(at.lane);
  out.u64(static_cast<std::uint64_t>(at.time));
  out.u64(at.sequence);
  return out.take();
}

std::string of(Table table, QueueNumber queue, std::string_view group) {
  ByteWriter out = start(table);
  out.u64(queue);
  out.text(group);
  return out.take();
}

std::string of(Table table, QueueNumber queue, std::string_view group, std::uint64_t sequence) {
  ByteWriter out = start(table);
  out.u64(queue);
  out.text(group);
  out.u64(sequence);
  return out.take();
}

std::string of(Table table, const QueueName& queue) {
  std::string key = of_name_prefix(queue.account, queue.region, queue.name);
  key[0] = table;
  return key;
}

std::string of_name_prefix(std::string_view account, std::string_view region,
                           std::string_view prefix) {
  ByteWriter out = start(name);
  out.raw(account);
  out.u8(0);
  out.raw(region);
  out.u8(0);
  out.raw(prefix);
  return out.take();
}

std::string of_source_prefix(std::string_view target_arn) {
  ByteWriter out = start(source);
  out.raw(target_arn);
  out.u8(0);
  return out.take();
}

std::string of_source(std::string_view target_arn, QueueNumber queue) {
  ByteWriter out;
  out.raw(of_source_prefix(target_arn));
  out.u64(queue);
  return out.take();
}

std::string of(Table table, QueueNumber queue, const BridgedGroup& group) {
  return start(table, queue, group).take();
}

std::string of_multicasts(QueueNumber queue, const BridgedGroup& group, std::uint64_t generation) {
  ByteWriter out = start(multicasts, queue, group);
  out.u64(generation);
  return out.take();
}

std::string of_multicasts(QueueNumber queue, const BridgedGroup& group, std::uint64_t generation,
                          const Id& publisher, std::uint64_t incarnation) {
  ByteWriter out = start(multicasts, queue, group);
  out.u64(generation);
  const Id::Bytes bytes = publisher.to_bytes();
  out.raw({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  out.u64(incarnation);
  return out.take();
}

std::string of_deduplication(QueueNumber queue, std::uint64_t bucket, std::string_view id) {
  ByteWriter out = start(deduplication);
  out.u64(queue);
  out.u64(bucket);
  out.raw(id);
  return out.take();
}

std::string after(std::string prefix) {
  while (!prefix.empty() && static_cast<std::uint8_t>(prefix.back()) == 0xff) prefix.pop_back();
  CANOPY_ASSERT(!prefix.empty());
  prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

Position position_of(std::string_view key) {
  ByteReader in(key.substr(1 + number_size));
  Position at;
  at.lane = in.u64();
  at.time = static_cast<Millis>(in.u64());
  at.sequence = in.u64();
  CANOPY_ASSERT(in.finished());
  return at;
}

std::uint64_t last_number_of(std::string_view key) {
  CANOPY_ASSERT(key.size() > number_size);
  return ByteReader(key.substr(key.size() - number_size)).u64();
}

std::string_view name_of(std::string_view key) { return key.substr(key.rfind('\0') + 1); }

BridgeKey bridge_of(std::string_view key) {
  ByteReader in(key.substr(1));
  BridgeKey bridge;
  bridge.queue = in.u64();
  bridge.group.name = in.text();
  bridge.group.creator = in.text();
  CANOPY_ASSERT(in.finished());
  return bridge;
}

}  // namespace canopy::queue::keys
