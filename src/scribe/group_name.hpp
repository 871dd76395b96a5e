// Names of groups and the ids that follow from them. Pure functions.
#pragma once

#include "base/id.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

// SHA-1(name + creator), cut to the length of the id space.
Id group_id(const wire::GroupName& name, unsigned id_bits);

// Whether a group may be called that: a name that is not empty (the creator may
// be), at most 255 bytes in each part.
bool valid_name(const wire::GroupName& name) noexcept;

// Whether the group of this id is called that: what comes from outside may lie.
bool names(const wire::GroupName& name, const Id& group, unsigned id_bits);

}  // namespace canopy::scribe
