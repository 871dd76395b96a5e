// What requests and answers of the control socket have in common on their way
// to Protobuf and back. Used by control_codec_requests.cpp and
// control_codec_answers.cpp only; Protobuf types are merely named here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <canopy/error.hpp>

#include "wire/control_codec.hpp"

namespace canopy::control {
class AccessRights;
class Grant;
class GroupName;
class MessageId;
}  // namespace canopy::control

namespace canopy::wire::control::detail {

namespace pb = canopy::control;

Malformed malformed(std::string reason);

// Lists and optional parts of what was malformed on the way are reported once,
// at the end, by this flag.
struct Decoder {
  bool ok = true;

  Id id(const std::string& bytes);
  static GroupName group_name(const pb::GroupName& in);
  GroupMode mode(std::uint32_t in);
  Grant grant(const pb::Grant& in);
  std::optional<AccessRights> rights(const pb::AccessRights& in, bool present);
  MessageId message_id(const pb::MessageId& in);
  Content content(const Frame& frame);
};

std::string bytes_of(const Id& id);
void put(pb::GroupName& out, const GroupName& in);
void put(pb::Grant& out, const Grant& in);
void put(pb::AccessRights& out, const AccessRights& in);
void put(pb::MessageId& out, const MessageId& in);
std::uint32_t milliseconds(std::chrono::milliseconds time);
boost::system::result<Buffer> encoded(const Content& content);

template <class Header>
boost::system::result<EncodedFrame> framed(std::uint8_t kind, const Header& header,
                                           const boost::system::result<Buffer>& body) {
  if (!body) return body.error();
  const std::size_t size = header.ByteSizeLong();
  if (size > max_header) return make_error_code(errc::too_large);
  EncodedFrame frame = make_frame(kind, size, *body);
  header.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(header_of(frame)));
  return frame;
}

template <class Header>
bool parse(const Frame& frame, Header& header) {
  return header.ParseFromArray(frame.header.data(), static_cast<int>(frame.header.size()));
}

}  // namespace canopy::wire::control::detail
