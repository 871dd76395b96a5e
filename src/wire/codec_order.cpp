// Messages about positions in a group, what is missing and what came last to Protobuf and back.
#include "overlay.pb.h"
#include "wire/codec_messages.hpp"

namespace canopy::wire::detail {

overlay::EpochStart to_proto(Writer& writer, const EpochStart& from) {
  overlay::EpochStart to;
  to.set_group(bytes_of(from.group));
  to.set_epoch(from.epoch);
  writer.put_position(from.previous, [&] { return to.mutable_previous(); });
  to.set_exact(from.exact);
  return to;
}
EpochStart from_proto(Reader& reader, const overlay::EpochStart& from) {
  EpochStart to;
  to.group = reader.id(from.group(), "group");
  to.epoch = from.epoch();
  to.previous = reader.position(from.previous());
  to.exact = from.exact();
  return to;
}

overlay::LostUpTo to_proto(Writer& writer, const LostUpTo& from) {
  overlay::LostUpTo to;
  to.set_group(bytes_of(from.group));
  writer.put_position(from.position, [&] { return to.mutable_position(); });
  return to;
}
LostUpTo from_proto(Reader& reader, const overlay::LostUpTo& from) {
  return {reader.id(from.group(), "group"), reader.position(from.position())};
}

overlay::LatestPosition to_proto(Writer& writer, const LatestPosition& from) {
  overlay::LatestPosition to;
  to.set_group(bytes_of(from.group));
  writer.put_position(from.position, [&] { return to.mutable_position(); });
  return to;
}
LatestPosition from_proto(Reader& reader, const overlay::LatestPosition& from) {
  return {reader.id(from.group(), "group"), reader.position(from.position())};
}

overlay::RefillRequest to_proto(Writer& writer, const RefillRequest& from) {
  overlay::RefillRequest to;
  to.set_group(bytes_of(from.group));
  writer.put_position(from.after, [&] { return to.mutable_after(); });
  writer.put_position(from.before, [&] { return to.mutable_before(); });
  return to;
}
RefillRequest from_proto(Reader& reader, const overlay::RefillRequest& from) {
  return {reader.id(from.group(), "group"), reader.position(from.after()),
          reader.position(from.before())};
}

overlay::LastRequest to_proto(Writer&, const LastRequest& from) {
  overlay::LastRequest to;
  to.set_group(bytes_of(from.group));
  return to;
}
LastRequest from_proto(Reader& reader, const overlay::LastRequest& from) {
  return {reader.id(from.group(), "group")};
}

overlay::LastReply to_proto(Writer& writer, const LastReply& from) {
  overlay::LastReply to;
  to.set_group(bytes_of(from.group));
  writer.put_position(from.stamp, [&] { return to.mutable_stamp(); });
  to.set_found(from.found);
  to.set_hint(from.hint);
  if (from.id != MessageId{}) writer.put(to.mutable_id(), from.id);
  to.set_epoch(from.epoch);
  to.set_sequence(from.sequence);
  to.set_reign(from.reign);
  writer.body = from.body;
  return to;
}
LastReply from_proto(Reader& reader, const overlay::LastReply& from) {
  LastReply to;
  to.group = reader.id(from.group(), "group");
  to.stamp = reader.position(from.stamp());
  to.found = from.found();
  to.hint = from.hint();
  if (from.has_id()) reader.get(to.id, from.id(), "id");
  to.epoch = from.epoch();
  to.sequence = from.sequence();
  to.reign = from.reign();
  to.body = reader.body;
  return to;
}

}  // namespace canopy::wire::detail
