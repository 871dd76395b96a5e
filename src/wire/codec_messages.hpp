// The conversion of every message but Routed and Relay to its Protobuf header and back,
// defined in codec_pastry.cpp, codec_scribe.cpp, codec_access.cpp,
// codec_order.cpp and codec_requests.cpp. Used by the codec's own source files
// only; Protobuf types are merely named here.
#pragma once

#include "wire/codec_state.hpp"
#include "wire/message.hpp"

#define CANOPY_WIRE_CONVERSION(Type)                          \
  namespace overlay {                                         \
  class Type;                                                 \
  }                                                           \
  namespace wire::detail {                                    \
  overlay::Type to_proto(Writer& writer, const Type& from);   \
  Type from_proto(Reader& reader, const overlay::Type& from); \
  }

namespace canopy {
CANOPY_WIRE_CONVERSION(Heartbeat)
CANOPY_WIRE_CONVERSION(Probe)
CANOPY_WIRE_CONVERSION(ProbeReply)
CANOPY_WIRE_CONVERSION(DistanceReport)
CANOPY_WIRE_CONVERSION(LeafProbe)
CANOPY_WIRE_CONVERSION(StateRequest)
CANOPY_WIRE_CONVERSION(StateReply)
CANOPY_WIRE_CONVERSION(RowAnnounce)
CANOPY_WIRE_CONVERSION(JoinRequest)
CANOPY_WIRE_CONVERSION(JoinReply)
CANOPY_WIRE_CONVERSION(JoinDeferred)
CANOPY_WIRE_CONVERSION(JoinDone)
CANOPY_WIRE_CONVERSION(Departure)
CANOPY_WIRE_CONVERSION(HopAck)
CANOPY_WIRE_CONVERSION(RouteTrace)
CANOPY_WIRE_CONVERSION(RouteTraceReply)

CANOPY_WIRE_CONVERSION(GroupJoin)
CANOPY_WIRE_CONVERSION(GroupCreate)
CANOPY_WIRE_CONVERSION(Publish)
CANOPY_WIRE_CONVERSION(Anycast)
CANOPY_WIRE_CONVERSION(TreeRequest)
CANOPY_WIRE_CONVERSION(GroupCreateReply)
CANOPY_WIRE_CONVERSION(JoinAck)
CANOPY_WIRE_CONVERSION(JoinRefused)
CANOPY_WIRE_CONVERSION(Leave)
CANOPY_WIRE_CONVERSION(Orphaned)
CANOPY_WIRE_CONVERSION(RootPathUpdate)
CANOPY_WIRE_CONVERSION(Multicast)
CANOPY_WIRE_CONVERSION(TreeHeartbeat)
CANOPY_WIRE_CONVERSION(GroupSetPage)
CANOPY_WIRE_CONVERSION(PublishAck)
CANOPY_WIRE_CONVERSION(RootAddress)
CANOPY_WIRE_CONVERSION(AnycastReply)
CANOPY_WIRE_CONVERSION(RootStates)
CANOPY_WIRE_CONVERSION(RootStatesAck)
CANOPY_WIRE_CONVERSION(RootStateRequest)
CANOPY_WIRE_CONVERSION(RootStateReply)
CANOPY_WIRE_CONVERSION(TreeReply)
CANOPY_WIRE_CONVERSION(Relocation)
CANOPY_WIRE_CONVERSION(EpochStart)
CANOPY_WIRE_CONVERSION(LostUpTo)
CANOPY_WIRE_CONVERSION(LatestPosition)
CANOPY_WIRE_CONVERSION(RefillRequest)
CANOPY_WIRE_CONVERSION(MulticastAck)
CANOPY_WIRE_CONVERSION(AckRequest)
CANOPY_WIRE_CONVERSION(ReplicaDigest)
CANOPY_WIRE_CONVERSION(Reply)
CANOPY_WIRE_CONVERSION(ReplyAck)
CANOPY_WIRE_CONVERSION(RequestCheck)
CANOPY_WIRE_CONVERSION(RequestCancel)
CANOPY_WIRE_CONVERSION(AccessUpdate)
CANOPY_WIRE_CONVERSION(AccessClaim)
CANOPY_WIRE_CONVERSION(GroupChange)
CANOPY_WIRE_CONVERSION(GroupChangeReply)
CANOPY_WIRE_CONVERSION(MemberWords)
CANOPY_WIRE_CONVERSION(PresenceUpdate)
CANOPY_WIRE_CONVERSION(LastRequest)
CANOPY_WIRE_CONVERSION(LastReply)
}  // namespace canopy

#undef CANOPY_WIRE_CONVERSION
