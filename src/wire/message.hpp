// Everything one peer can say to another, as one closed set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "wire/pastry_messages.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::wire {

// A body of a kind that this version does not know: carried on as it came.
struct OpaqueBody {
  std::uint8_t kind = 0;
  Buffer header = {};
  Buffer body = {};
};

// What can be routed to a key. A variant whose special members are compiled
// once, in message.cpp: inline they would fill every object file.
struct RoutedBody : std::variant<JoinRequest, RouteTrace, GroupJoin, GroupCreate, Publish, Anycast,
                                 TreeRequest, GroupChange, OpaqueBody> {
  using variant::variant;
  RoutedBody();
  RoutedBody(const RoutedBody&);
  RoutedBody(RoutedBody&&) noexcept;
  RoutedBody& operator=(const RoutedBody&);
  RoutedBody& operator=(RoutedBody&&) noexcept;
  ~RoutedBody();
};

// The encoding in which a body arrived.
struct ReceivedBody {
  std::shared_ptr<const RoutedBody> body = {};
  std::string header = {};
};

// A message on its way to the root of a key. The body is shared by the copies
// that wait for hop acks; a hop that changes it makes its own.
struct Routed {
  Id key = {};
  std::uint32_t hop_id = 0;  // names this hop in its HopAck; 0 wants no ack
  std::uint8_t hops = 0;     // taken so far
  std::shared_ptr<const RoutedBody> body = {};
  Peers leaving = {};  // roots on its way that leave the ring: it is to end at none of them
  std::uint32_t waited_ms = 0;  // at nodes that might not deliver it yet

  // Filled by the codec, so that a hop that leaves `body` as it is passes on
  // every byte of it, with the fields of later versions that it does not know.
  // Means nothing once `body` is another object; nobody else need touch it.
  std::shared_ptr<const ReceivedBody> received = {};
};

struct Message;

// A message between two peers that do not reach each other, by way of a third one, which
// looks at neither content nor kind.
struct Relay {
  PeerRef from = {};
  PeerRef to = {};
  std::shared_ptr<const Message> message = {};      // none: it is of a later version
  std::shared_ptr<const OpaqueBody> received = {};  // the encoding in which it arrived
};

// A variant with special members compiled once, too.
struct Message
    : std::variant<Heartbeat, Probe, ProbeReply, DistanceReport, LeafProbe, StateRequest,
                   StateReply, RowAnnounce, JoinReply, JoinDeferred, JoinDone, Departure, HopAck,
                   RouteTraceReply, Routed, Relay,
                   // Scribe, direct
                   Publish, Anycast, TreeRequest, GroupCreateReply, JoinAck, JoinRefused, Leave,
                   Orphaned, RootPathUpdate, Multicast, TreeHeartbeat, GroupSetPage, PublishAck,
                   RootAddress, AnycastReply, RootStates, RootStatesAck, TreeReply,
                   RootStateRequest, RootStateReply, GroupJoin, Relocation, EpochStart, LostUpTo,
                   LatestPosition, RefillRequest, MulticastAck, AckRequest, ReplicaDigest,
                   AccessUpdate, AccessClaim, GroupChangeReply, MemberWords, PresenceUpdate,
                   LastRequest, LastReply, Reply, ReplyAck, RequestCheck, RequestCancel> {
  using variant::variant;
  Message();
  Message(const Message&);
  Message(Message&&) noexcept;
  Message& operator=(const Message&);
  Message& operator=(Message&&) noexcept;
  ~Message();
};

// Whether the Pastry layer handles it (else Scribe does).
bool for_pastry(const Message& message) noexcept;

// Control traffic overtakes bulk data on a link and is dropped last.
enum class TrafficClass : std::uint8_t { control, bulk };
TrafficClass traffic_class(const Message& message) noexcept;

// The struct's name ("LeafProbe"); of a routed one, that of its body ("GroupJoin").
std::string_view type_name(const Message& message) noexcept;

// Bytes that the message occupies on a link, near enough to bound queues and
// to count traffic, the same on every machine, without encoding it.
std::size_t size_estimate(const Message& message) noexcept;
std::size_t size_estimate(const RoutedBody& body) noexcept;

}  // namespace canopy::wire
