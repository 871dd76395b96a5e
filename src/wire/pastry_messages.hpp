// The messages of the Pastry layer, as plain structs.
//
// In memory a peer is a PeerRef of the local PeerTable; on the wire it is its
// descriptor. The codec translates. Lists of peers are bounded by the codec.
// Every member has an initialiser, so that designated ones may leave it out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"

namespace canopy::wire {

using Peers = std::vector<PeerRef>;

// One row of a routing table, or the part of it that is worth telling.
struct TableRow {
  std::uint8_t row = 0;
  Peers peers = {};
};

// Between neighbours on the ring: "I am alive". One with a number asks for a lease,
// one that echoes the receiver's number grants it.
struct Heartbeat {
  std::uint32_t number = 0;    // 0: wants no answer
  std::uint32_t echo = 0;      // 0: answers none
  std::uint32_t lease_ms = 0;  // with an echo: that the sender grants
  std::uint32_t mark = 0;      // of the leaves that both should have; 0: does not say
};

// Liveness and distance: the answer echoes the nonce.
struct Probe {
  std::uint32_t nonce = 0;
};
struct ProbeReply {
  std::uint32_t nonce = 0;
  std::uint32_t tuning_s = 0;  // the sender's own interval between probes of entries; 0: none
};

// The sender measured this round trip to the receiver, who need not do it again.
struct DistanceReport {
  std::uint32_t round_trip_us = 0;
};

// MSPastry's leaf set probe and its answer: each side tells its leaf set and
// the peers that it holds for failed.
struct LeafProbe {
  std::uint32_t nonce = 0;
  bool reply = false;   // an answer; wants none
  bool active = false;  // the sender is active
  Peers leaves = {};
  Peers failed = {};
  std::uint32_t tuning_s = 0;  // as in ProbeReply
};

enum class StatePart : std::uint8_t {
  leaf_set = 1,
  neighborhood = 2,  // and others that are about as far as the asker
  row = 3,
  entry = 4,
};

// Asks for a part of the receiver's state. `row` for row and entry, `column`
// for entry only.
struct StateRequest {
  std::uint32_t nonce = 0;
  StatePart part = StatePart::leaf_set;
  std::uint8_t row = 0;
  std::uint8_t column = 0;
};
struct StateReply {
  std::uint32_t nonce = 0;
  StatePart part = StatePart::leaf_set;
  std::uint8_t row = 0;
  std::uint8_t column = 0;
  Peers peers = {};
};

// Constrained gossip: a row that the receiver belongs to.
struct RowAnnounce {
  TableRow row = {};
};

// Routed to the joiner's own id; every hop adds the rows it has to offer.
struct JoinRequest {
  PeerRef joiner = {};
  std::uint32_t nonce = 0;
  std::vector<TableRow> rows = {};
};

// From the root of the joiner's id, straight to the joiner.
struct JoinReply {
  std::uint32_t nonce = 0;
  Peers leaves = {};
  std::vector<TableRow> rows = {};
};

// The root helps somebody else and its queue is full: ask again later.
struct JoinDeferred {
  std::uint32_t nonce = 0;
  std::uint32_t retry_after_ms = 0;
};

// The sender has become active: the help given to it is over.
struct JoinDone {
  std::uint32_t nonce = 0;
};

// The sender leaves now, on purpose; its leaves serve to fill the hole.
struct Departure {
  Peers leaves = {};
};

// Hop by hop receipt of a routed message.
struct HopAck {
  std::uint32_t hop_id = 0;
};

// Records the way to a key; the root answers the origin.
struct RouteTrace {
  std::uint32_t nonce = 0;
  PeerRef origin = {};
  Peers hops = {};
};
struct RouteTraceReply {
  std::uint32_t nonce = 0;
  Peers hops = {};  // after the origin, ending at the root
};

}  // namespace canopy::wire
