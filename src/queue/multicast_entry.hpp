// A multicast of the overlay as a message for a queue. Plain functions.
//
// The body comes as it is, or, where it is no text that Amazon SQS allows, in
// base64. Its message attributes, all of type String but the numbers:
//   canopy.group        the group
//   canopy.publisher    id of the publishing peer, 40 hexadecimal digits
//   canopy.incarnation  of that peer, a Number; larger for a later boot
//   canopy.sequence     of the message in that boot, a Number; with the two above
//                       it names the message for ever
//   canopy.encoding     "base64", only if the body is
// Behind them come the publisher's headers, as many as there is room for, in
// their order: String where they are text, else Binary. Left out are those that
// have no value, a name that attributes cannot have or that begins with
// "canopy.", or a name that came before.
// On a FIFO queue the message group is the publisher, whose order so is kept,
// and the deduplication id PUBLISHER-INCARNATION-SEQUENCE.
#pragma once

#include <cstdint>
#include <string_view>

#include "queue/actions.hpp"
#include "queue/limits.hpp"

namespace canopy::queue {

struct MulticastEntry {
  SendEntry entry;
  bool encoded = false;
  std::uint64_t headers_left_out = 0;
};

MulticastEntry entry_of(Multicast multicast, std::string_view shown_group, bool fifo,
                        const Limits& limits);

// Those that every message has.
MessageAttributes attributes_of(const MulticastId& id, std::string_view shown_group);

}  // namespace canopy::queue
