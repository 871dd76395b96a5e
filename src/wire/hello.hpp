// The handshake: the first frame in each direction of a link between peers.
//
// Both sides send a Hello at once, check the other's with check_compatible(),
// and answer one that does not fit with a HelloReject before they close. What
// a Hello says holds for the whole link and is not repeated. Its encoding must
// be understood by every version of the protocol, past and future: fields are
// only ever added. Plain values; no thread touches shared state here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/peer.hpp"
#include "base/uuid.hpp"
#include "wire/frame.hpp"

namespace canopy::wire {

// The protocol versions that this build speaks.
inline constexpr std::uint16_t protocol_version_min = 1;
inline constexpr std::uint16_t protocol_version_max = 1;

struct Hello {
  Uuid cluster = {};  // nil: not a member yet, ready to join the other side's
  std::string cluster_name = {};
  PeerDescriptor peer = {};
  std::uint16_t version_min = protocol_version_min;
  std::uint16_t version_max = protocol_version_max;
  std::uint64_t features = 0;  // optional abilities, none so far; both sides' "and" is used
  std::uint8_t digit_bits = 4;
  std::uint16_t leaf_set_size = 16;

  friend bool operator==(const Hello&, const Hello&) = default;
};

// Why a link is refused. Numbers are part of the protocol.
enum class RejectCode : std::uint16_t {
  wrong_cluster = 1,   // another cluster's UUID or name
  version = 2,         // no common protocol version
  parameters = 3,      // digit bits or leaf set size differ
  duplicate_name = 4,  // another process has the same name (id)
  self = 5,            // the link leads back to its own process
  not_member = 6,      // neither side belongs to a cluster yet: try again later
  busy = 7,            // too many links: try again later
  shutting_down = 8,   // about to leave: try others
  malformed = 9,       // the first frame was no valid Hello, or its id is not that of its name
  wrong_peer = 10,     // the caller wanted another peer than the one that answers here
};

struct HelloReject {
  RejectCode code = RejectCode::malformed;
  std::string text = {};  // for people; calls both peers by name

  friend bool operator==(const HelloReject&, const HelloReject&) = default;
};

// Nothing if the two can talk; else the refusal to send, whose text names
// exactly what differs and on which side. Both sides find the same code.
std::optional<HelloReject> check_compatible(const Hello& mine, const Hello& theirs);

EncodedFrame encode(const Hello& hello);
EncodedFrame encode(const HelloReject& reject);

// By frame.kind (FrameKind::hello, FrameKind::hello_reject).
Decoded<Hello> decode_hello(const Frame& frame);
Decoded<HelloReject> decode_hello_reject(const Frame& frame);

}  // namespace canopy::wire
