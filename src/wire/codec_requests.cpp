// Anycasts, requests and what answers them to Protobuf and back.
#include <cstdint>

#include "overlay.pb.h"
#include "wire/codec_messages.hpp"

namespace canopy::wire::detail {

overlay::Anycast to_proto(Writer& writer, const Anycast& from) {
  overlay::Anycast to;
  writer.put_group(to, from.group);
  writer.put(to.mutable_id(), from.id);
  writer.put(to.mutable_origin(), from.origin);
  writer.put_list(to.mutable_visited(), from.visited, limit::peers);
  writer.put_list(to.mutable_to_visit(), from.to_visit, limit::peers);
  writer.put_shared(from.proof, [&] { return to.mutable_proof(); });
  to.set_within_ms(from.within_ms);
  to.set_wants_reply(from.wants_reply);
  writer.put_list(to.mutable_passed_over(), from.passed_over, limit::passed_over);
  to.set_met_busy(from.met_busy);
  writer.body = from.body;
  return to;
}
Anycast from_proto(Reader& reader, const overlay::Anycast& from) {
  Anycast to;
  to.group = reader.group(from);
  reader.get(to.id, from.id(), "id");
  to.origin = reader.needed_peer(from.origin(), from.has_origin(), "origin");
  to.visited = reader.list<PeerRef>(from.visited(), limit::peers, "visited");
  to.to_visit = reader.list<PeerRef>(from.to_visit(), limit::peers, "to_visit");
  to.proof = reader.proof(from.proof(), from.has_proof());
  to.within_ms = from.within_ms();
  to.wants_reply = from.wants_reply();
  to.passed_over = reader.list<PeerRef>(from.passed_over(), limit::passed_over, "passed_over");
  to.met_busy = from.met_busy();
  to.body = reader.body;
  return to;
}

overlay::AnycastReply to_proto(Writer& writer, const AnycastReply& from) {
  overlay::AnycastReply to;
  writer.put(to.mutable_id(), from.id);
  to.set_error(from.error);
  if (from.member) writer.put(to.mutable_member(), from.member);
  to.set_searching(from.searching);
  to.set_retry_after_ms(from.retry_after_ms);
  return to;
}
AnycastReply from_proto(Reader& reader, const overlay::AnycastReply& from) {
  AnycastReply to;
  reader.get(to.id, from.id(), "id");
  to.error = reader.number<std::uint16_t>(from.error(), "error");
  to.member = reader.optional_peer(from.member(), from.has_member(), "member");
  to.searching = from.searching();
  to.retry_after_ms = from.retry_after_ms();
  return to;
}

overlay::Reply to_proto(Writer& writer, const Reply& from) {
  overlay::Reply to;
  writer.put(to.mutable_id(), from.id);
  to.set_number(from.number);
  to.set_kind(static_cast<std::uint32_t>(from.kind));
  to.set_last(from.last);
  to.set_status(from.status);
  writer.body = from.body;
  return to;
}
Reply from_proto(Reader& reader, const overlay::Reply& from) {
  Reply to;
  reader.get(to.id, from.id(), "id");
  to.number = from.number();
  to.kind = reader.enumeration(from.kind(), ReplyKind::given, ReplyKind::declined);
  to.last = from.last();
  to.status = from.status();
  to.body = reader.body;
  return to;
}

overlay::ReplyAck to_proto(Writer& writer, const ReplyAck& from) {
  overlay::ReplyAck to;
  writer.put(to.mutable_id(), from.id);
  to.set_number(from.number);
  to.set_state(static_cast<std::uint32_t>(from.state));
  return to;
}
ReplyAck from_proto(Reader& reader, const overlay::ReplyAck& from) {
  ReplyAck to;
  reader.get(to.id, from.id(), "id");
  to.number = from.number();
  to.state = reader.enumeration(from.state(), AskerState::waits, AskerState::over);
  return to;
}

overlay::RequestCheck to_proto(Writer& writer, const RequestCheck& from) {
  overlay::RequestCheck to;
  writer.put(to.mutable_id(), from.id);
  return to;
}
RequestCheck from_proto(Reader& reader, const overlay::RequestCheck& from) {
  RequestCheck to;
  reader.get(to.id, from.id(), "id");
  return to;
}

overlay::RequestCancel to_proto(Writer& writer, const RequestCancel& from) {
  overlay::RequestCancel to;
  writer.put(to.mutable_id(), from.id);
  return to;
}
RequestCancel from_proto(Reader& reader, const overlay::RequestCancel& from) {
  RequestCancel to;
  reader.get(to.id, from.id(), "id");
  return to;
}

}  // namespace canopy::wire::detail
