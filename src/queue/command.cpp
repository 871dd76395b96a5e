#include "queue/command.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "queue/bytes.hpp"

namespace canopy::queue {

namespace {

constexpr std::uint8_t command_version = 1;

// --- What each struct is made of: one description for both directions. ---

void fields(auto& f, command::Begin& c) { f(c.secret); }
void fields(auto& f, command::CreateQueue& c) { f(c.queue, c.attributes, c.tags); }
void fields(auto& f, command::DeleteQueue& c) { f(c.queue); }
void fields(auto& f, command::SetAttributes& c) { f(c.queue, c.changes); }
void fields(auto& f, command::SetTags& c) { f(c.queue, c.set, c.removed); }
void fields(auto& f, command::AddPermission& c) { f(c.queue, c.label, c.accounts, c.actions); }
void fields(auto& f, command::RemovePermission& c) { f(c.queue, c.label); }
void fields(auto& f, command::Purge& c) { f(c.queue); }
void fields(auto& f, command::Send& c) { f(c.queue, c.messages); }
void fields(auto& f, command::Receive& c) {
  f(c.queue, c.visible_at, c.head, c.messages);
  f.added(c.attempt);
}
void fields(auto& f, command::Remove& c) { f(c.queue, c.head, c.messages); }
void fields(auto& f, command::SetVisibility& c) { f(c.queue, c.messages); }
void fields(auto& f, command::NoteReceives& c) { f(c.queue, c.notes); }
void fields(auto& f, command::PlaceGroup& c) { f(c.queue, c.group, c.available); }
void fields(auto& f, command::MoveOut& c) { f(c.queue, c.head, c.task, c.messages); }
void fields(auto& f, command::Deliver& c) { f(c.queue, c.source, c.messages); }
void fields(auto& f, command::Delivered& c) { f(c.through); }
void fields(auto& f, command::Housekeeping& c) { f(c.queue, c.next, c.forget_before); }
void fields(auto& f, command::StartTask& c) {
  f(c.queue, c.destination_arn, c.messages_per_second_max, c.to_move);
}
void fields(auto& f, command::EndTask& c) { f(c.queue, c.task, c.status, c.reason); }
void fields(auto& f, command::AddBridge& c) { f(c.queue, c.group); }
void fields(auto& f, command::RemoveBridge& c) { f(c.queue, c.group); }
void fields(auto& f, command::SendMulticasts& c) { f(c.queue, c.group, c.counted, c.messages); }

void fields(auto& f, QueueName& n) { f(n.region, n.account, n.name); }
void fields(auto& f, Position& p) { f(p.lane, p.time, p.sequence); }
void fields(auto& f, command::NewMessage& m) {
  f(m.lane, m.due, m.group, m.deduplication, m.id, m.record);
}
void fields(auto& f, command::ReceivedMessage& m) {
  f(m.group, m.sequence, m.receive, m.count, m.first_received);
}
void fields(auto& f, command::MessagePlace& m) { f(m.at, m.group); }
void fields(auto& f, command::NewVisibility& m) {
  f(m.group, m.sequence, m.receive, m.visible_at, m.undo);
}
void fields(auto& f, command::ReceiveNote& n) { f(n.at, n.count, n.first_received); }
void fields(auto& f, command::MovedMessage& m) { f(m.from, m.target, m.record); }
void fields(auto& f, command::Delivery& d) { f(d.sequence, d.message); }
void fields(auto& f, BridgedGroup& g) { f(g.name, g.creator); }
void fields(auto& f, BridgeCounts& c) {
  for_each_count([&](const char*, auto count) { f(c.*count); });
}
void fields(auto& f, MulticastId& i) { f(i.publisher, i.incarnation, i.sequence); }
void fields(auto& f, command::BridgedMessage& m) { f(m.id, m.message); }

class Encoder {
 public:
  void operator()(auto&... values) { (write(values), ...); }
  void added(auto& value) { write(value); }

  ByteWriter out;

 private:
  void write(std::uint64_t& value) { out.varint(value); }
  void write(std::uint32_t& value) { out.varint(value); }
  void write(std::int64_t& value) { out.zigzag(value); }
  void write(bool& value) { out.u8(value ? 1 : 0); }
  void write(std::string& value) { out.text(value); }
  void write(Buffer& value) { out.text(value.view()); }
  void write(SecretKey& value) { out.raw({value.data(), value.size()}); }
  void write(Uuid& value) {
    out.raw({reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
  }
  void write(Id& value) {
    const Id::Bytes bytes = value.to_bytes();
    out.raw({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  void write(std::map<std::string, std::string>& values) {
    out.varint(values.size());
    for (const auto& [name, value] : values) {
      out.text(name);
      out.text(value);
    }
  }
  template <typename T>
  void write(std::vector<T>& values) {
    out.varint(values.size());
    for (T& value : values) write(value);
  }
  template <typename T>
  void write(std::optional<T>& value) {
    out.u8(value ? 1 : 0);
    if (value) write(*value);
  }
  template <typename T>
  void write(T& value) {
    fields(*this, value);
  }
};

class Decoder {
 public:
  explicit Decoder(const Buffer& record) : in(record.view()), record_(record) {}

  void operator()(auto&... values) { (read(values), ...); }
  // Earlier versions have not written it.
  void added(auto& value) {
    if (!in.rest().empty()) read(value);
  }

  ByteReader in;

 private:
  void read(std::uint64_t& value) { value = in.varint(); }
  void read(std::uint32_t& value) { value = static_cast<std::uint32_t>(in.varint()); }
  void read(std::int64_t& value) { value = in.zigzag(); }
  void read(bool& value) { value = in.u8() != 0; }
  void read(std::string& value) { value = in.text(); }
  void read(Buffer& value) {
    const std::string_view bytes = in.text();
    if (!bytes.empty()) {
      value = record_.slice(static_cast<std::size_t>(bytes.data() - record_.data()), bytes.size());
    }
  }
  void read(SecretKey& value) { copy(in.raw(value.size()), value.data()); }
  void read(Uuid& value) { copy(in.raw(value.bytes.size()), value.bytes.data()); }
  void read(Id& value) {
    Id::Bytes bytes{};
    copy(in.raw(bytes.size()), bytes.data());
    value = Id::from_bytes(bytes);
  }
  void read(std::map<std::string, std::string>& values) {
    for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
      std::string name(in.text());
      values.insert_or_assign(values.end(), std::move(name), std::string(in.text()));
    }
  }
  template <typename T>
  void read(std::vector<T>& values) {
    const std::size_t count = in.count();
    for (std::size_t i = 0; i < count && in.ok(); ++i) read(values.emplace_back());
  }
  template <typename T>
  void read(std::optional<T>& value) {
    if (in.u8() != 0) read(value.emplace());
  }
  template <typename T>
  void read(T& value) {
    fields(*this, value);
  }

  static void copy(std::string_view from, void* to) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
  }

  const Buffer& record_;
};

template <std::size_t... Kinds>
bool decode_body(std::size_t kind, Decoder& decoder, CommandBody& body,
                 std::index_sequence<Kinds...>) {
  return ((kind == Kinds && (fields(decoder, body.emplace<Kinds>()), true)) || ...);
}

}  // namespace

Buffer encode(const Command& command) {
  Encoder encoder;
  encoder.out.reserve(256);
  encoder.out.u8(command_version);
  encoder.out.u8(static_cast<std::uint8_t>(command.body.index()));
  encoder.out.zigzag(command.time);
  encoder.out.u64(command.origin.peer);
  encoder.out.varint(command.origin.incarnation);
  encoder.out.varint(command.sequence);
  // fields() serves both directions; writing changes nothing.
  std::visit([&encoder](auto& body) { fields(encoder, body); },
             const_cast<CommandBody&>(command.body));
  const auto bytes = std::make_shared<const std::string>(encoder.out.take());
  return {std::shared_ptr<const char[]>(bytes, bytes->data()), 0, bytes->size()};
}

std::optional<Command> decode_command(const Buffer& record) {
  Decoder decoder(record);
  if (decoder.in.u8() != command_version) return std::nullopt;
  const std::uint8_t kind = decoder.in.u8();
  Command command;
  command.time = decoder.in.zigzag();
  command.origin.peer = decoder.in.u64();
  command.origin.incarnation = decoder.in.varint();
  command.sequence = decoder.in.varint();
  constexpr auto kinds = std::make_index_sequence<std::variant_size_v<CommandBody>>();
  if (!decode_body(kind, decoder, command.body, kinds)) return std::nullopt;
  // A later version may have appended fields.
  if (!decoder.in.ok()) return std::nullopt;
  return command;
}

}  // namespace canopy::queue
