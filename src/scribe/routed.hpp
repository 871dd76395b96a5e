// What Scribe's routed messages have in common. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"
#include "wire/message.hpp"

namespace canopy::scribe {

// The group that the message is for; nothing if it is none of Scribe's.
std::optional<Id> group_of(const wire::RoutedBody& body);

// Whether the message makes sense in itself: it is for the key that it was
// routed to, names fit ids, content is within its bound and numbered by its origin.
bool consistent(const wire::Routed& message, const PeerTable& peers, unsigned id_bits,
                std::size_t body_max);

void collect_peers_of(const wire::RoutedBody& body, std::vector<PeerRef>& in_use);

}  // namespace canopy::scribe
