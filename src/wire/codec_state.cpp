#include "wire/codec_state.hpp"

#include <span>
#include <utility>

#include "base/text.hpp"
#include "overlay.pb.h"

namespace canopy::wire::detail {

namespace {

bool fits(const PeerDescriptor& peer) noexcept {
  for (const Endpoint& address : peer.addresses) {
    if (address.host.size() > limit::name) return false;
  }
  return peer.name.size() <= limit::name && peer.zone.size() <= limit::name &&
         peer.addresses.size() <= limit::addresses;
}

}  // namespace

std::string bytes_of(const Id& id) {
  const Id::Bytes bytes = id.to_bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string bytes_of(const Buffer& buffer) { return std::string(buffer.view()); }

void put_descriptor(overlay::Peer* to, const PeerDescriptor& from) {
  to->set_id(bytes_of(from.id));
  to->set_incarnation(from.incarnation);
  to->set_name(from.name);
  for (const Endpoint& address : from.addresses) {
    auto* endpoint = to->add_addresses();
    endpoint->set_host(address.host);
    endpoint->set_port(address.port);
  }
  to->set_roles(from.roles);
  to->set_zone(from.zone);
}

void Writer::put(overlay::Peer* to, PeerRef from) {
  const PeerDescriptor& peer = peers_[from];
  if (check(fits(peer))) put_descriptor(to, peer);
}

void Writer::put(overlay::TableRow* to, const TableRow& from) {
  to->set_row(from.row);
  put_list(to->mutable_peers(), from.peers, limit::peers);
}

void Writer::put(overlay::GroupName* to, const GroupName& from) {
  check(from.name.size() <= limit::name && from.creator.size() <= limit::name);
  check(is_printable(from.name) && is_printable(from.creator), errc::bad_name);
  to->set_name(from.name);
  to->set_creator(from.creator);
}

void Writer::put(overlay::MessageId* to, const MessageId& from) {
  to->set_publisher(bytes_of(from.publisher));
  to->set_incarnation(from.incarnation);
  to->set_sequence(from.sequence);
}

void Writer::put(overlay::GroupState* to, const GroupState& from) {
  to->set_group(bytes_of(from.group));
  put(to->mutable_name(), from.name);
  to->set_mode(static_cast<std::uint32_t>(from.mode));
  to->set_epoch(from.epoch);
  to->set_version(from.version);
  to->set_created(from.created);
  put_position(from.closed, [&] { return to->mutable_closed(); });
  put_shared(from.access, [&] { return to->mutable_access(); });
  to->set_life(from.life);
  to->set_deleted_for_ms(from.deleted_for_ms);
}

void Writer::put(overlay::Position* to, const Position& from) {
  to->set_epoch(from.epoch);
  to->set_sequence(from.sequence);
}

void Writer::put(overlay::LostSubtree* to, const LostSubtree& from) {
  if (from.peer) put(to->mutable_peer(), from.peer);
  put_position(from.up_to, [&] { return to->mutable_up_to(); });
  to->set_for_ms(from.for_ms);
  to->set_count(from.count);
}

void Writer::put(overlay::Reach* to, const Reach& from) {
  to->set_members(from.members);
  to->set_complete(from.complete);
  put_list(to->mutable_unreachable(), from.unreachable, limit::peers);
  to->set_more(from.more);
}

Id Reader::id(const std::string& bytes, std::string_view field) {
  if (bytes.size() != Id::byte_count) {
    fail(fmt::format("{} is an id of {} bytes", field, bytes.size()));
    return {};
  }
  return Id::from_bytes(std::span<const std::uint8_t, Id::byte_count>(
      reinterpret_cast<const std::uint8_t*>(bytes.data()), Id::byte_count));
}

std::string Reader::text(const std::string& bytes, std::string_view field) {
  if (bytes.size() > limit::name) {
    fail(fmt::format("{} has a text of {} bytes, more than {}", field, bytes.size(), limit::name));
    return {};
  }
  if (!is_printable(bytes)) fail(fmt::format("{} has a text that is not printable", field));
  return bytes;
}

PeerDescriptor Reader::descriptor(const overlay::Peer& from, std::string_view field) {
  PeerDescriptor peer;
  if (static_cast<std::size_t>(from.addresses_size()) > limit::addresses) {
    fail(fmt::format("{} has a peer with {} addresses", field, from.addresses_size()));
    return peer;
  }
  peer.id = id(from.id(), field);
  peer.incarnation = from.incarnation();
  peer.name = text(from.name(), field);
  for (const auto& address : from.addresses()) {
    peer.addresses.push_back(
        {text(address.host(), field), number<std::uint16_t>(address.port(), field)});
    if (address.host().empty()) fail(fmt::format("{} has a peer with an empty address", field));
  }
  peer.roles = static_cast<std::uint8_t>(from.roles());  // roles of later versions are not kept
  peer.zone = text(from.zone(), field);
  return peer;
}

void Reader::get(PeerRef& to, const overlay::Peer& from, std::string_view field) {
  PeerDescriptor peer = descriptor(from, field);
  if (problem_.empty()) to = peers_.intern(std::move(peer));
}

void Reader::get(TableRow& to, const overlay::TableRow& from, std::string_view field) {
  to.row = number<std::uint8_t>(from.row(), field);
  if (to.row >= Id::bits) fail(fmt::format("{} has a row {}", field, from.row()));
  to.peers = list<PeerRef>(from.peers(), limit::peers, field);
}

void Reader::get(GroupName& to, const overlay::GroupName& from, std::string_view field) {
  to = {text(from.name(), field), text(from.creator(), field)};
}

void Reader::get(MessageId& to, const overlay::MessageId& from, std::string_view field) {
  to = {id(from.publisher(), field), from.incarnation(), from.sequence()};
}

void Reader::get(GroupState& to, const overlay::GroupState& from, std::string_view field) {
  to.group = id(from.group(), field);
  get(to.name, from.name(), field);
  to.mode = enumeration(from.mode(), GroupMode::best_effort, GroupMode::durable);
  to.epoch = from.epoch();
  to.version = from.version();
  to.created = from.created();
  to.closed = position(from.closed());
  to.access = access(from.access(), from.has_access());
  to.life = from.life();
  to.deleted_for_ms = from.deleted_for_ms();
}

void Reader::get(LostSubtree& to, const overlay::LostSubtree& from, std::string_view field) {
  to.peer = optional_peer(from.peer(), from.has_peer(), field);
  to.up_to = position(from.up_to());
  to.for_ms = from.for_ms();
  to.count = from.count();
}

Reach Reader::reach(const overlay::Reach& from) {
  return {from.members(), from.complete(),
          list<PeerRef>(from.unreachable(), limit::peers, "unreachable"), from.more()};
}

Position Reader::position(const overlay::Position& from) const noexcept {
  return {from.epoch(), from.sequence()};
}

Id Reader::group(const std::string& bytes, std::uint32_t number) {
  if (number == 0) return id(bytes, "group");
  if (groups_ == nullptr) {
    fail("group is a number where numbers are not known");
    return {};
  }
  if (!bytes.empty()) {
    const Id group = id(bytes, "group");
    if (!groups_->define(number, group)) fail(fmt::format("group is given number {}", number));
    return group;
  }
  const auto group = groups_->find(number);
  if (!group) fail(fmt::format("group has the number {}, which was never given to one", number));
  return group.value_or(Id());
}

}  // namespace canopy::wire::detail
