// Numbers of members, and who comes and goes, as text and as JSON.
#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "wire/control_messages.hpp"

namespace canopy::tools {

// "3 members", "about 1 member".
std::string member_count_text(std::uint64_t members, bool complete);

// "3 members (+1: b; -2: c and 1 more)".
std::string text_of(const wire::control::Presence& presence);

// Adds members, complete, joined, left, more_joined and more_left.
void put_presence(boost::json::object& object, const wire::control::Presence& presence);

}  // namespace canopy::tools
