// A message sent through the wire codec and back, to find out whether anything
// gets lost on the way that the protocol needs.
#pragma once

#include <optional>

#include "base/peer.hpp"
#include "wire/message.hpp"

namespace canopy::sim {

// Nothing if the codec refuses it (too large), as a daemon would drop it.
// Groups are named in full each time: on a network that loses and reorders
// there is no order of arrival for a dictionary to rely on.
std::optional<wire::Message> through_codec(const wire::Message& message, PeerTable& peers);

}  // namespace canopy::sim
