// Pastry's messages to Protobuf and back.
#include <cstdint>

#include "overlay.pb.h"
#include "wire/codec_messages.hpp"

namespace canopy::wire::detail {

overlay::Heartbeat to_proto(Writer&, const Heartbeat& from) {
  overlay::Heartbeat to;
  to.set_number(from.number);
  to.set_echo(from.echo);
  to.set_lease_ms(from.lease_ms);
  to.set_mark(from.mark);
  return to;
}
Heartbeat from_proto(Reader&, const overlay::Heartbeat& from) {
  return {.number = from.number(),
          .echo = from.echo(),
          .lease_ms = from.lease_ms(),
          .mark = from.mark()};
}

overlay::Probe to_proto(Writer&, const Probe& from) {
  overlay::Probe to;
  to.set_nonce(from.nonce);
  return to;
}
Probe from_proto(Reader&, const overlay::Probe& from) {
  Probe to;
  to.nonce = from.nonce();
  return to;
}

overlay::ProbeReply to_proto(Writer&, const ProbeReply& from) {
  overlay::ProbeReply to;
  to.set_nonce(from.nonce);
  to.set_tuning_s(from.tuning_s);
  return to;
}
ProbeReply from_proto(Reader&, const overlay::ProbeReply& from) {
  ProbeReply to;
  to.nonce = from.nonce();
  to.tuning_s = from.tuning_s();
  return to;
}

overlay::DistanceReport to_proto(Writer&, const DistanceReport& from) {
  overlay::DistanceReport to;
  to.set_round_trip_us(from.round_trip_us);
  return to;
}
DistanceReport from_proto(Reader&, const overlay::DistanceReport& from) {
  DistanceReport to;
  to.round_trip_us = from.round_trip_us();
  return to;
}

overlay::LeafProbe to_proto(Writer& writer, const LeafProbe& from) {
  overlay::LeafProbe to;
  to.set_nonce(from.nonce);
  to.set_reply(from.reply);
  to.set_active(from.active);
  writer.put_list(to.mutable_leaves(), from.leaves, limit::peers);
  writer.put_list(to.mutable_failed(), from.failed, limit::peers);
  to.set_tuning_s(from.tuning_s);
  return to;
}
LeafProbe from_proto(Reader& reader, const overlay::LeafProbe& from) {
  LeafProbe to;
  to.nonce = from.nonce();
  to.reply = from.reply();
  to.active = from.active();
  to.leaves = reader.list<PeerRef>(from.leaves(), limit::peers, "leaves");
  to.failed = reader.list<PeerRef>(from.failed(), limit::peers, "failed");
  to.tuning_s = from.tuning_s();
  return to;
}

overlay::StateRequest to_proto(Writer&, const StateRequest& from) {
  overlay::StateRequest to;
  to.set_nonce(from.nonce);
  to.set_part(static_cast<std::uint32_t>(from.part));
  to.set_row(from.row);
  to.set_column(from.column);
  return to;
}
StateRequest from_proto(Reader& reader, const overlay::StateRequest& from) {
  StateRequest to;
  to.nonce = from.nonce();
  to.part = reader.enumeration(from.part(), StatePart::leaf_set, StatePart::entry);
  to.row = reader.number<std::uint8_t>(from.row(), "row");
  to.column = reader.number<std::uint8_t>(from.column(), "column");
  return to;
}

overlay::StateReply to_proto(Writer& writer, const StateReply& from) {
  overlay::StateReply to;
  to.set_nonce(from.nonce);
  to.set_part(static_cast<std::uint32_t>(from.part));
  to.set_row(from.row);
  to.set_column(from.column);
  writer.put_list(to.mutable_peers(), from.peers, limit::peers);
  return to;
}
StateReply from_proto(Reader& reader, const overlay::StateReply& from) {
  StateReply to;
  to.nonce = from.nonce();
  to.part = reader.enumeration(from.part(), StatePart::leaf_set, StatePart::entry);
  to.row = reader.number<std::uint8_t>(from.row(), "row");
  to.column = reader.number<std::uint8_t>(from.column(), "column");
  to.peers = reader.list<PeerRef>(from.peers(), limit::peers, "peers");
  return to;
}

overlay::RowAnnounce to_proto(Writer& writer, const RowAnnounce& from) {
  overlay::RowAnnounce to;
  writer.put(to.mutable_row(), from.row);
  return to;
}
RowAnnounce from_proto(Reader& reader, const overlay::RowAnnounce& from) {
  RowAnnounce to;
  reader.get(to.row, from.row(), "row");
  return to;
}

overlay::JoinRequest to_proto(Writer& writer, const JoinRequest& from) {
  overlay::JoinRequest to;
  writer.put(to.mutable_joiner(), from.joiner);
  to.set_nonce(from.nonce);
  writer.put_list(to.mutable_rows(), from.rows, limit::rows);
  return to;
}
JoinRequest from_proto(Reader& reader, const overlay::JoinRequest& from) {
  JoinRequest to;
  to.joiner = reader.needed_peer(from.joiner(), from.has_joiner(), "joiner");
  to.nonce = from.nonce();
  to.rows = reader.list<TableRow>(from.rows(), limit::rows, "rows");
  return to;
}

overlay::JoinReply to_proto(Writer& writer, const JoinReply& from) {
  overlay::JoinReply to;
  to.set_nonce(from.nonce);
  writer.put_list(to.mutable_leaves(), from.leaves, limit::peers);
  writer.put_list(to.mutable_rows(), from.rows, limit::rows);
  return to;
}
JoinReply from_proto(Reader& reader, const overlay::JoinReply& from) {
  JoinReply to;
  to.nonce = from.nonce();
  to.leaves = reader.list<PeerRef>(from.leaves(), limit::peers, "leaves");
  to.rows = reader.list<TableRow>(from.rows(), limit::rows, "rows");
  return to;
}

overlay::JoinDeferred to_proto(Writer&, const JoinDeferred& from) {
  overlay::JoinDeferred to;
  to.set_nonce(from.nonce);
  to.set_retry_after_ms(from.retry_after_ms);
  return to;
}
JoinDeferred from_proto(Reader&, const overlay::JoinDeferred& from) {
  JoinDeferred to;
  to.nonce = from.nonce();
  to.retry_after_ms = from.retry_after_ms();
  return to;
}

overlay::JoinDone to_proto(Writer&, const JoinDone& from) {
  overlay::JoinDone to;
  to.set_nonce(from.nonce);
  return to;
}
JoinDone from_proto(Reader&, const overlay::JoinDone& from) {
  JoinDone to;
  to.nonce = from.nonce();
  return to;
}

overlay::Departure to_proto(Writer& writer, const Departure& from) {
  overlay::Departure to;
  writer.put_list(to.mutable_leaves(), from.leaves, limit::peers);
  return to;
}
Departure from_proto(Reader& reader, const overlay::Departure& from) {
  Departure to;
  to.leaves = reader.list<PeerRef>(from.leaves(), limit::peers, "leaves");
  return to;
}

overlay::HopAck to_proto(Writer&, const HopAck& from) {
  overlay::HopAck to;
  to.set_hop_id(from.hop_id);
  return to;
}
HopAck from_proto(Reader&, const overlay::HopAck& from) {
  HopAck to;
  to.hop_id = from.hop_id();
  return to;
}

overlay::RouteTrace to_proto(Writer& writer, const RouteTrace& from) {
  overlay::RouteTrace to;
  to.set_nonce(from.nonce);
  writer.put(to.mutable_origin(), from.origin);
  writer.put_list(to.mutable_hops(), from.hops, limit::peers);
  return to;
}
RouteTrace from_proto(Reader& reader, const overlay::RouteTrace& from) {
  RouteTrace to;
  to.nonce = from.nonce();
  to.origin = reader.needed_peer(from.origin(), from.has_origin(), "origin");
  to.hops = reader.list<PeerRef>(from.hops(), limit::peers, "hops");
  return to;
}

overlay::RouteTraceReply to_proto(Writer& writer, const RouteTraceReply& from) {
  overlay::RouteTraceReply to;
  to.set_nonce(from.nonce);
  writer.put_list(to.mutable_hops(), from.hops, limit::peers);
  return to;
}
RouteTraceReply from_proto(Reader& reader, const overlay::RouteTraceReply& from) {
  RouteTraceReply to;
  to.nonce = from.nonce();
  to.hops = reader.list<PeerRef>(from.hops(), limit::peers, "hops");
  return to;
}

}  // namespace canopy::wire::detail
