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

#include <string>

#include <canopy/bridge_counts.hpp>
#include <canopy/message.hpp>

namespace canopy {

struct BridgeInfo {
  GroupName group;  // with its creator
  std::string queue;
  std::string queue_url;
  bool joined = false;  // a member of the group now; it goes on trying
  // Why not, or why the queue takes nothing, in some 500 bytes; empty: all is well.
  std::string problem;
  BridgeCounts counts;
};

}  // namespace canopy
