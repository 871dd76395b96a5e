#include "wire/control_codec_parts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "control.pb.h"

namespace canopy::wire::control::detail {

Malformed malformed(std::string reason) {
  return {make_error_code(errc::protocol), std::move(reason)};
}

Id Decoder::id(const std::string& bytes) {
  if (bytes.size() != Id::byte_count) {
    ok = false;
    return {};
  }
  Id::Bytes raw;
  std::copy(bytes.begin(), bytes.end(), raw.begin());
  return Id::from_bytes(raw);
}

GroupName Decoder::group_name(const pb::GroupName& in) { return {in.name(), in.creator()}; }

GroupMode Decoder::mode(std::uint32_t in) {
  if (in > static_cast<std::uint32_t>(GroupMode::durable)) ok = false;
  return in == 0 ? GroupMode::best_effort : static_cast<GroupMode>(in);
}

Grant Decoder::grant(const pb::Grant& in) {
  Grant out{!in.listed(), {}, {}};
  ok &= static_cast<std::size_t>(in.peers_size()) + static_cast<std::size_t>(in.keys_size()) <=
        grants_max;
  for (const std::string& peer : in.peers()) out.peers.push_back(id(peer));
  for (const std::string& key : in.keys()) {
    ok &= key.size() == PublicKey().size();
    if (!ok) break;
    std::copy(key.begin(), key.end(), out.keys.emplace_back().begin());
  }
  return out;
}

std::optional<AccessRights> Decoder::rights(const pb::AccessRights& in, bool present) {
  if (!present) return std::nullopt;
  return AccessRights{grant(in.publish()), grant(in.join()), grant(in.manage())};
}

MessageId Decoder::message_id(const pb::MessageId& in) {
  return {id(in.publisher()), in.incarnation(), in.sequence()};
}

Content Decoder::content(const Frame& frame) {
  auto decoded = decode_content(frame.body, frame.body.size());
  if (decoded) return std::move(*decoded);
  ok = false;
  return {};
}

std::string bytes_of(const Id& id) {
  const Id::Bytes raw = id.to_bytes();
  return {raw.begin(), raw.end()};
}

void put(pb::GroupName& out, const GroupName& in) {
  out.set_name(in.name);
  out.set_creator(in.creator);
}

void put(pb::Grant& out, const Grant& in) {
  out.set_listed(!in.everybody);
  for (const Id& peer : in.peers) out.add_peers(bytes_of(peer));
  for (const PublicKey& key : in.keys) out.add_keys(std::string(key.begin(), key.end()));
}

void put(pb::AccessRights& out, const AccessRights& in) {
  put(*out.mutable_publish(), in.publish);
  put(*out.mutable_join(), in.join);
  put(*out.mutable_manage(), in.manage);
}

void put(pb::MessageId& out, const MessageId& in) {
  out.set_publisher(bytes_of(in.publisher));
  out.set_incarnation(in.incarnation);
  out.set_sequence(in.sequence);
}

std::uint32_t milliseconds(std::chrono::milliseconds time) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(time.count(), 0, std::numeric_limits<std::uint32_t>::max()));
}

boost::system::result<Buffer> encoded(const Content& content) {
  return encode_content(content.headers, content.payload.view(), content.payload.size());
}

}  // namespace canopy::wire::control::detail
