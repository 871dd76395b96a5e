// Bridges: queues of a gateway that subscribe to groups. Plain values; the
// functions are those of Gateway.
//
// What anybody publishes to the group becomes at most one message of the queue,
// whatever happens in between: the queue remembers, on its disk and together with
// each message, which multicasts came. Of a publisher's boot it knows 1,024 runs of
// numbers, that is, all of them if few are missing in between; what is older is
// not sent (and counted as `late`). It knows the last 8,192 publishers at least.
//
// The body is the payload, or its base64 where Amazon SQS does not allow it as
// text. Message attributes: canopy.group, canopy.publisher (40 hexadecimal
// digits), canopy.incarnation and canopy.sequence (numbers; the three name the
// message for ever), canopy.encoding ("base64") if it is, and as many headers of
// the publisher as fit Amazon's rules. On a FIFO queue the message group is the
// publisher, whose order is kept, and the deduplication id is
// PUBLISHER-INCARNATION-SEQUENCE.
#pragma once

#include <cstdint>
#include <string>

#include <canopy/message.hpp>

namespace canopy {

// Multicasts since the bridge was added, however often the process began anew.
struct BridgeCounts {
  std::uint64_t sent = 0;        // they became messages
  std::uint64_t duplicates = 0;  // came again: not sent
  std::uint64_t late = 0;        // too old to tell whether they had come: not sent
  // Numbers of publishers that were passed over: multicasts that never came, that
  // were lost or refused, or that were meant for other groups, since publishers
  // count over all groups.
  std::uint64_t unseen = 0;
  std::uint64_t lost = 0;              // came faster than the queue took them
  std::uint64_t refused = 0;           // larger than the queue's messages may be, or empty
  std::uint64_t encoded = 0;           // came in base64
  std::uint64_t headers_left_out = 0;  // that cannot be attributes
  friend bool operator==(const BridgeCounts&, const BridgeCounts&) = default;
};

struct BridgeInfo {
  GroupName group;  // with its creator
  std::string queue;
  std::string queue_url;
  bool joined = false;  // a member of the group now; it goes on trying
  std::string problem;  // why not, or why the queue takes nothing; empty: all is well
  BridgeCounts counts;
};

}  // namespace canopy
