// What the daemon tells, as JSON and as short text. Plain functions.
#pragma once

#include <cstddef>
#include <string>

#include <boost/json/object.hpp>

#include "wire/control_messages.hpp"

namespace canopy::tools {

// Hexadecimal digits of an id that people get to see; JSON has all of them.
inline constexpr std::size_t short_id_digits = 8;

std::string short_id(const Id& id);
std::string first_address(const wire::control::Peer& peer);  // "-" without any

// "NAME@CREATOR", or "NAME" when the creator is the default one.
std::string display_name(const wire::GroupName& group, const std::string& default_creator);

const char* text_of(wire::GroupMode mode) noexcept;

boost::json::object to_json(const wire::control::Peer& peer);
boost::json::object to_json(const wire::control::Status& status);
boost::json::object to_json(const wire::control::Group& group);
boost::json::object to_json(const wire::control::Bridge& bridge);
boost::json::object to_json(const wire::MessageId& id);

// Adds "headers".
void put_headers(boost::json::object& object, const wire::Headers& headers);

// Adds "group" and "creator".
void put_group(boost::json::object& object, const wire::GroupName& group);

}  // namespace canopy::tools
