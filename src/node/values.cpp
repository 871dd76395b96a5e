#include "node/values.hpp"

#include <algorithm>

#include "base/option_value.hpp"
#include "base/sha1.hpp"

namespace canopy {

Key Key::of(std::string_view text) { return {sha1(text)}; }

std::optional<Key> Key::from_hex(std::string_view hex) noexcept {
  std::optional<Id> id = Id::from_hex(hex);
  if (!id) return std::nullopt;
  return node::to_key(*id);
}

std::string Key::to_hex() const { return node::to_id(*this).to_hex(); }

GroupName GroupName::parse(std::string_view text) {
  std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return {std::string(text), {}};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

std::string GroupName::to_string(std::string_view default_creator) const {
  // A name that holds an '@' itself needs its creator, or it would be read as another group.
  bool ambiguous = name.find('@') != std::string::npos;
  if (!ambiguous && (creator.empty() || creator == default_creator)) return name;
  return name + "@" + creator;
}

Payload::Payload(std::string_view bytes) {
  if (bytes.empty()) return;
  auto owner = std::make_shared<const std::string>(bytes);
  bytes_ = *owner;
  owner_ = std::move(owner);
}

const char* to_string(GroupMode mode) noexcept {
  return mode == GroupMode::ordered ? "ordered" : "best-effort";
}

const char* to_string(NodeState state) noexcept {
  switch (state) {
    case NodeState::created: return "created";
    case NodeState::joining: return "joining";
    case NodeState::active: return "active";
    case NodeState::departing: return "departing";
    case NodeState::stopped: return "stopped";
  }
  return "unknown";
}

namespace node {

Key to_key(const Id& id) noexcept { return {id.to_bytes()}; }

Id to_id(const Key& key) noexcept { return Id::from_bytes(key.bytes); }

Payload to_payload(const Buffer& buffer) { return {buffer.slab(), buffer.view()}; }

PeerInfo to_peer_info(const PeerDescriptor& descriptor) {
  PeerInfo info;
  info.id = to_key(descriptor.id);
  info.name = descriptor.name;
  for (const Endpoint& address : descriptor.addresses)
    info.addresses.push_back(format_endpoint(address));
  info.incarnation = descriptor.incarnation;
  info.zone = descriptor.zone;
  return info;
}

MessageId to_message_id(const wire::MessageId& id) noexcept {
  return {to_key(id.publisher), id.incarnation, id.sequence};
}

GroupName to_group_name(const wire::GroupName& name) { return {name.name, name.creator}; }

wire::GroupName to_wire(const GroupName& name, std::string_view default_creator) {
  return {name.name, name.creator.empty() ? std::string(default_creator) : name.creator};
}

}  // namespace node
}  // namespace canopy
