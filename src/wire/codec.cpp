#include "wire/codec.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "overlay.pb.h"
#include "wire/codec_messages.hpp"
#include "wire/kinds.hpp"
#include "wire/proto_frame.hpp"

namespace canopy::wire {

namespace {

using detail::Reader;
using detail::Writer;

// These are converted here, as they hold messages of other types.
overlay::Routed to_proto(Writer& writer, const Routed& from);
Routed from_proto(Reader& reader, const overlay::Routed& from);
overlay::Relay to_proto(Writer& writer, const Relay& from);
Relay from_proto(Reader& reader, const overlay::Relay& from);

// --- Bodies of routed messages ---

struct EncodedBody {
  std::uint8_t kind = 0;
  std::string header;
  Buffer body;
};

EncodedBody encode_body(Writer& outer, const Routed& routed) {
  return std::visit(
      [&](const auto& body) -> EncodedBody {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, OpaqueBody>) {
          return {body.kind, detail::bytes_of(body.header), body.body};
        } else {
          constexpr auto kind = static_cast<std::uint8_t>(kind_info<T>.kind);
          Writer writer(outer.peers(), nullptr);
          const auto proto = to_proto(writer, body);
          outer.check(!writer.error(), writer.error().value_or(errc::too_large));
          const bool as_received = routed.received && routed.received->body == routed.body;
          return {kind, as_received ? routed.received->header : proto.SerializeAsString(),
                  std::move(writer.body)};
        }
      },
      *routed.body);
}

// What one type's decoder makes of a header: fills `to` unless the bytes are
// malformed (the reader knows why) or of a later version.
template <class T, class Variant>
void decode_as(std::string_view header, Reader& reader, std::optional<Variant>& to) {
  decltype(to_proto(std::declval<Writer&>(), std::declval<const T&>())) proto;
  if (!proto.ParseFromArray(header.data(), static_cast<int>(header.size()))) {
    return reader.fail("its header is not valid Protobuf");
  }
  T message = from_proto(reader, proto);
  if (reader.problem().empty() && !reader.is_foreign()) to = std::move(message);
}

// Finds the type of this kind among a variant's and decodes it. Names the type,
// or says nothing if there is none.
template <class Variant, std::size_t index = 0>
std::string_view decode_kind(std::uint8_t kind, std::string_view header, Reader& reader,
                             std::optional<Variant>& to);

std::shared_ptr<const RoutedBody> decode_body(Reader& outer, std::uint8_t kind,
                                              const std::string& header) {
  Reader reader(outer.peers(), nullptr, outer.body);
  std::optional<RoutedBody> body;
  const std::string_view name = decode_kind<RoutedBody>(kind, header, reader, body);
  if (!reader.problem().empty()) outer.fail(fmt::format("{}: {}", name, reader.problem()));
  if (!body) body = OpaqueBody{kind, Buffer::copy_of(header), outer.body};
  return std::make_shared<const RoutedBody>(std::move(*body));
}

overlay::Routed to_proto(Writer& writer, const Routed& from) {
  CANOPY_ASSERT(from.body);
  EncodedBody body = encode_body(writer, from);
  overlay::Routed to;
  to.set_key(detail::bytes_of(from.key));
  to.set_hop_id(from.hop_id);
  to.set_hops(from.hops);
  writer.put_list(to.mutable_leaving(), from.leaving, limit::leaving);
  to.set_waited_ms(from.waited_ms);
  to.set_body_kind(body.kind);
  to.set_body_header(std::move(body.header));
  writer.body = std::move(body.body);
  return to;
}

Routed from_proto(Reader& reader, const overlay::Routed& from) {
  Routed to;
  to.key = reader.id(from.key(), "key");
  to.hop_id = from.hop_id();
  to.hops = reader.number<std::uint8_t>(from.hops(), "hops");
  to.leaving = reader.list<PeerRef>(from.leaving(), limit::leaving, "leaving");
  to.waited_ms = from.waited_ms();
  const auto kind = reader.number<std::uint8_t>(from.body_kind(), "body kind");
  if (kind == 0) reader.fail("body has no kind");
  if (!reader.problem().empty()) return to;
  to.body = decode_body(reader, kind, from.body_header());
  if (!std::holds_alternative<OpaqueBody>(*to.body)) {
    to.received = std::make_shared<const ReceivedBody>(ReceivedBody{to.body, from.body_header()});
  }
  return to;
}

// --- Relayed messages ---

// Group ids are whole in there: it goes over two links.
OpaqueBody encode_relayed(Writer& outer, const Message& message) {
  return std::visit(
      [&](const auto& m) -> OpaqueBody {
        using T = std::decay_t<decltype(m)>;
        Writer writer(outer.peers(), nullptr);
        const auto proto = to_proto(writer, m);
        outer.check(!writer.error(), writer.error().value_or(errc::too_large));
        return {static_cast<std::uint8_t>(kind_info<T>.kind),
                Buffer::copy_of(proto.SerializeAsString()), std::move(writer.body)};
      },
      message);
}

overlay::Relay to_proto(Writer& writer, const Relay& from) {
  CANOPY_ASSERT(from.message || from.received);
  const OpaqueBody content = from.received ? *from.received : encode_relayed(writer, *from.message);
  overlay::Relay to;
  writer.put(to.mutable_from(), from.from);
  writer.put(to.mutable_to(), from.to);
  to.set_kind(content.kind);
  to.set_header(detail::bytes_of(content.header));
  writer.body = content.body;
  return to;
}

Relay from_proto(Reader& reader, const overlay::Relay& from) {
  Relay to;
  to.from = reader.needed_peer(from.from(), from.has_from(), "from");
  to.to = reader.needed_peer(from.to(), from.has_to(), "to");
  const auto kind = reader.number<std::uint8_t>(from.kind(), "kind");
  if (kind == static_cast<std::uint8_t>(Kind::relay)) reader.fail("it holds another one");
  if (!reader.problem().empty()) return to;
  to.received = std::make_shared<const OpaqueBody>(
      OpaqueBody{kind, Buffer::copy_of(from.header()), reader.body});
  Reader inner(reader.peers(), nullptr, reader.body);
  std::optional<Message> message;
  const std::string_view name = decode_kind<Message>(kind, from.header(), inner, message);
  if (!inner.problem().empty()) reader.fail(fmt::format("{}: {}", name, inner.problem()));
  if (message) to.message = std::make_shared<const Message>(std::move(*message));
  return to;
}

// --- Messages ---

template <class Variant, std::size_t index>
std::string_view decode_kind(std::uint8_t kind, std::string_view header, Reader& reader,
                             std::optional<Variant>& to) {
  if constexpr (index == std::variant_size_v<typename Variant::variant>) {
    return {};
  } else {
    using T = std::variant_alternative_t<index, typename Variant::variant>;
    if constexpr (!std::is_same_v<T, OpaqueBody>) {
      if (kind == static_cast<std::uint8_t>(kind_info<T>.kind)) {
        decode_as<T>(header, reader, to);
        return kind_info<T>.name;
      }
    }
    return decode_kind<Variant, index + 1>(kind, header, reader, to);
  }
}

}  // namespace

boost::system::result<EncodedFrame> encode(const Message& message, const PeerTable& peers,
                                           SendDictionary& groups, std::size_t max_frame) {
  Writer writer(peers, &groups);
  EncodedFrame frame;
  std::visit(
      [&](const auto& m) {
        using T = std::decay_t<decltype(m)>;
        const auto proto = to_proto(writer, m);
        if (!writer.check(proto.ByteSizeLong() <= max_header)) return;
        frame =
            frame_of(static_cast<std::uint8_t>(kind_info<T>.kind), proto, std::move(writer.body));
      },
      message);
  writer.check(frame.size() <= max_frame);
  if (!writer.error()) return frame;
  if (writer.defined()) groups.forget(*writer.defined());
  return *writer.error();
}

Decoded<std::optional<Message>> decode(const Frame& frame, PeerTable& peers,
                                       ReceiveDictionary& groups) {
  Reader reader(peers, &groups, frame.body);
  std::optional<Message> message;
  const std::string_view name = decode_kind<Message>(frame.kind, frame.header, reader, message);
  if (!reader.problem().empty()) {
    return Malformed{errc::protocol, fmt::format("{}: {}", name, reader.problem())};
  }
  return message;
}

}  // namespace canopy::wire
