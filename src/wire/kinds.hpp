// The number, name and class of every message: one table for the codec, for
// traces and for queues.
//
// Numbers are the `kind` of frames and of routed bodies. They are part of the
// protocol: new ones are added, none is ever used again for something else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "wire/message.hpp"

namespace canopy::wire {

// 0x10 to 0x3f are Pastry's, 0x40 to 0x7f Scribe's.
enum class Kind : std::uint8_t {
  none = 0,
  heartbeat = 0x10,
  probe = 0x11,
  probe_reply = 0x12,
  distance_report = 0x13,
  leaf_probe = 0x14,
  state_request = 0x15,
  state_reply = 0x16,
  row_announce = 0x17,
  join_request = 0x18,  // routed only
  join_reply = 0x19,
  join_deferred = 0x1a,
  join_done = 0x1b,
  departure = 0x1c,
  hop_ack = 0x1d,
  route_trace = 0x1e,  // routed only
  route_trace_reply = 0x1f,
  routed = 0x20,
  relay = 0x21,
  group_join = 0x40,
  group_create = 0x41,  // routed only
  publish = 0x42,
  anycast = 0x43,
  tree_request = 0x44,
  group_create_reply = 0x45,
  join_ack = 0x46,
  join_refused = 0x47,
  leave = 0x48,
  orphaned = 0x49,
  root_path_update = 0x4a,
  multicast = 0x4b,
  tree_heartbeat = 0x4c,
  group_set_page = 0x4d,
  publish_ack = 0x4e,
  root_address = 0x4f,
  anycast_reply = 0x50,
  root_states = 0x51,
  root_states_ack = 0x52,
  tree_reply = 0x53,
  root_state_request = 0x54,
  root_state_reply = 0x55,
  relocation = 0x56,
  epoch_start = 0x57,
  lost_up_to = 0x58,
  latest_position = 0x59,
  refill_request = 0x5a,
  multicast_ack = 0x5b,
  ack_request = 0x5c,
  replica_digest = 0x5d,
  reply = 0x5e,
  reply_ack = 0x5f,
  request_check = 0x60,
  request_cancel = 0x61,
  member_words = 0x62,
  presence_update = 0x63,
  last_request = 0x64,
  last_reply = 0x65,
  access_update = 0x67,
  access_claim = 0x68,
  group_change = 0x69,  // routed only
  group_change_reply = 0x6a,
};

inline constexpr Kind first_scribe_kind = Kind::group_join;

struct KindInfo {
  Kind kind = Kind::none;
  std::string_view name;
  TrafficClass traffic = TrafficClass::control;
};

// What is known of a type of Message or RoutedBody. Every type has its line.
template <class T>
inline constexpr KindInfo kind_info;

template <>
inline constexpr KindInfo kind_info<Heartbeat>{Kind::heartbeat, "Heartbeat"};
template <>
inline constexpr KindInfo kind_info<Probe>{Kind::probe, "Probe"};
template <>
inline constexpr KindInfo kind_info<ProbeReply>{Kind::probe_reply, "ProbeReply"};
template <>
inline constexpr KindInfo kind_info<DistanceReport>{Kind::distance_report, "DistanceReport"};
template <>
inline constexpr KindInfo kind_info<LeafProbe>{Kind::leaf_probe, "LeafProbe"};
template <>
inline constexpr KindInfo kind_info<StateRequest>{Kind::state_request, "StateRequest"};
template <>
inline constexpr KindInfo kind_info<StateReply>{Kind::state_reply, "StateReply"};
template <>
inline constexpr KindInfo kind_info<RowAnnounce>{Kind::row_announce, "RowAnnounce"};
template <>
inline constexpr KindInfo kind_info<JoinRequest>{Kind::join_request, "JoinRequest"};
template <>
inline constexpr KindInfo kind_info<JoinReply>{Kind::join_reply, "JoinReply"};
template <>
inline constexpr KindInfo kind_info<JoinDeferred>{Kind::join_deferred, "JoinDeferred"};
template <>
inline constexpr KindInfo kind_info<JoinDone>{Kind::join_done, "JoinDone"};
template <>
inline constexpr KindInfo kind_info<Departure>{Kind::departure, "Departure"};
template <>
inline constexpr KindInfo kind_info<HopAck>{Kind::hop_ack, "HopAck"};
template <>
inline constexpr KindInfo kind_info<RouteTrace>{Kind::route_trace, "RouteTrace"};
template <>
inline constexpr KindInfo kind_info<RouteTraceReply>{Kind::route_trace_reply, "RouteTraceReply"};
template <>
inline constexpr KindInfo kind_info<Routed>{Kind::routed, "Routed"};
template <>
inline constexpr KindInfo kind_info<Relay>{Kind::relay, "Relay"};
template <>
inline constexpr KindInfo kind_info<GroupJoin>{Kind::group_join, "GroupJoin"};
template <>
inline constexpr KindInfo kind_info<GroupCreate>{Kind::group_create, "GroupCreate"};
template <>
inline constexpr KindInfo kind_info<Publish>{Kind::publish, "Publish", TrafficClass::bulk};
template <>
inline constexpr KindInfo kind_info<Anycast>{Kind::anycast, "Anycast", TrafficClass::bulk};
template <>
inline constexpr KindInfo kind_info<TreeRequest>{Kind::tree_request, "TreeRequest"};
template <>
inline constexpr KindInfo kind_info<GroupCreateReply>{Kind::group_create_reply, "GroupCreateReply"};
template <>
inline constexpr KindInfo kind_info<JoinAck>{Kind::join_ack, "JoinAck"};
template <>
inline constexpr KindInfo kind_info<JoinRefused>{Kind::join_refused, "JoinRefused"};
template <>
inline constexpr KindInfo kind_info<Leave>{Kind::leave, "Leave"};
template <>
inline constexpr KindInfo kind_info<Orphaned>{Kind::orphaned, "Orphaned"};
template <>
inline constexpr KindInfo kind_info<RootPathUpdate>{Kind::root_path_update, "RootPathUpdate"};
template <>
inline constexpr KindInfo kind_info<Multicast>{Kind::multicast, "Multicast", TrafficClass::bulk};
template <>
inline constexpr KindInfo kind_info<TreeHeartbeat>{Kind::tree_heartbeat, "TreeHeartbeat"};
template <>
inline constexpr KindInfo kind_info<GroupSetPage>{Kind::group_set_page, "GroupSetPage"};
template <>
inline constexpr KindInfo kind_info<PublishAck>{Kind::publish_ack, "PublishAck"};
template <>
inline constexpr KindInfo kind_info<RootAddress>{Kind::root_address, "RootAddress"};
template <>
inline constexpr KindInfo kind_info<AnycastReply>{Kind::anycast_reply, "AnycastReply"};
template <>
inline constexpr KindInfo kind_info<RootStates>{Kind::root_states, "RootStates"};
template <>
inline constexpr KindInfo kind_info<RootStatesAck>{Kind::root_states_ack, "RootStatesAck"};
template <>
inline constexpr KindInfo kind_info<TreeReply>{Kind::tree_reply, "TreeReply"};
template <>
inline constexpr KindInfo kind_info<RootStateRequest>{Kind::root_state_request, "RootStateRequest"};
template <>
inline constexpr KindInfo kind_info<RootStateReply>{Kind::root_state_reply, "RootStateReply"};
template <>
inline constexpr KindInfo kind_info<Relocation>{Kind::relocation, "Relocation"};
// These two among multicasts, the third after them.
template <>
inline constexpr KindInfo kind_info<EpochStart>{Kind::epoch_start, "EpochStart",
                                                TrafficClass::bulk};
template <>
inline constexpr KindInfo kind_info<LostUpTo>{Kind::lost_up_to, "LostUpTo", TrafficClass::bulk};
template <>
inline constexpr KindInfo kind_info<LatestPosition>{Kind::latest_position, "LatestPosition",
                                                    TrafficClass::bulk};
template <>
inline constexpr KindInfo kind_info<RefillRequest>{Kind::refill_request, "RefillRequest"};
template <>
inline constexpr KindInfo kind_info<MulticastAck>{Kind::multicast_ack, "MulticastAck"};
template <>
inline constexpr KindInfo kind_info<AckRequest>{Kind::ack_request, "AckRequest"};
template <>
inline constexpr KindInfo kind_info<ReplicaDigest>{Kind::replica_digest, "ReplicaDigest"};
template <>
inline constexpr KindInfo kind_info<AccessUpdate>{Kind::access_update, "AccessUpdate"};
template <>
inline constexpr KindInfo kind_info<AccessClaim>{Kind::access_claim, "AccessClaim"};
template <>
inline constexpr KindInfo kind_info<GroupChange>{Kind::group_change, "GroupChange"};
template <>
inline constexpr KindInfo kind_info<GroupChangeReply>{Kind::group_change_reply, "GroupChangeReply"};
template <>
inline constexpr KindInfo kind_info<MemberWords>{Kind::member_words, "MemberWords"};
template <>
inline constexpr KindInfo kind_info<PresenceUpdate>{Kind::presence_update, "PresenceUpdate"};
template <>
inline constexpr KindInfo kind_info<LastRequest>{Kind::last_request, "LastRequest"};
template <>
inline constexpr KindInfo kind_info<LastReply>{Kind::last_reply, "LastReply", TrafficClass::bulk};
template <>
inline constexpr KindInfo kind_info<Reply>{Kind::reply, "Reply", TrafficClass::bulk};
template <>
inline constexpr KindInfo kind_info<ReplyAck>{Kind::reply_ack, "ReplyAck"};
template <>
inline constexpr KindInfo kind_info<RequestCheck>{Kind::request_check, "RequestCheck"};
template <>
inline constexpr KindInfo kind_info<RequestCancel>{Kind::request_cancel, "RequestCancel"};

// Carried under its own kind, whatever that is.
template <>
inline constexpr KindInfo kind_info<OpaqueBody>{Kind::none, "OpaqueBody"};

// The lines of a variant's types, in their order.
template <class Variant>
inline constexpr std::array<KindInfo, 0> kind_infos;
template <class... T>
inline constexpr std::array<KindInfo, sizeof...(T)> kind_infos<std::variant<T...>>{kind_info<T>...};

namespace detail {
template <class Variant>
constexpr bool has_distinct_names() {
  const auto& infos = kind_infos<Variant>;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name.empty()) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (infos[i].kind == infos[j].kind || infos[i].name == infos[j].name) return false;
    }
  }
  return true;
}
static_assert(has_distinct_names<Message::variant>() && has_distinct_names<RoutedBody::variant>());
}  // namespace detail

}  // namespace canopy::wire
