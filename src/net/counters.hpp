// What the network layer counts, for status and metrics.
//
// Totals since the start unless a line says otherwise. Written by the overlay's
// thread only; others get copies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/message.hpp"

namespace canopy::net {

// Traffic of all streams that share it.
struct StreamCounters {
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t writes = 0;     // system calls that wrote something
  std::uint64_t malformed = 0;  // streams closed for bytes that made no sense
  std::uint64_t truncated = 0;  // streams that ended in the middle of a frame
};

// A count for each class of traffic.
struct ClassCounts {
  std::uint64_t control = 0;
  std::uint64_t bulk = 0;

  std::uint64_t& of(wire::TrafficClass traffic) noexcept {
    return traffic == wire::TrafficClass::control ? control : bulk;
  }
};

struct LinkCounters {
  StreamCounters stream;
  ClassCounts dropped_full;         // made room in a full outbox
  ClassCounts dropped_unreachable;  // for a peer that did not answer or has started anew
  std::uint64_t not_encodable = 0;  // messages beyond a limit of the wire
  std::uint64_t unknown = 0;        // messages of a later version, skipped

  std::uint64_t dials = 0;            // peers and seeds
  std::uint64_t dials_failed = 0;     // no connection, or no agreement on it
  std::uint64_t dial_attempts = 0;    // single addresses
  std::uint64_t accepted = 0;         // connections
  std::uint64_t accepts_refused = 0;  // closed at once: too many handshakes under way
  std::uint64_t accept_errors = 0;

  std::uint64_t established = 0;        // handshakes that succeeded
  std::uint64_t handshakes_failed = 0;  // accepted ones that said nothing, or nonsense
  std::uint64_t rejects_sent = 0;
  std::uint64_t rejects_received = 0;
  std::uint64_t duplicates = 0;  // second links of a pair, closed again
  std::uint64_t replaced = 0;    // links of a peer that has started anew
  std::uint64_t lost = 0;        // links that broke
  std::uint64_t stalled = 0;     // links given up because the peer reads nothing
  std::uint64_t idle_closed = 0;

  // At the moment.
  std::size_t links = 0;       // established
  std::size_t handshakes = 0;  // accepted, not agreed yet
  std::size_t peers = 0;       // dialled, linked or remembered as failing
  std::size_t queued_messages = 0;
  std::size_t queued_bytes = 0;
};

}  // namespace canopy::net
