// A group's state as bytes of its own, for disks: as it is in messages. Pure
// functions.
#pragma once

#include <string>
#include <string_view>

#include "wire/frame.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::wire {

// The names are within their limits.
std::string encode_state(const GroupState& state);
Decoded<GroupState> decode_state(std::string_view bytes);

}  // namespace canopy::wire
