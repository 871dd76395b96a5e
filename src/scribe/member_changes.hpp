// Who came and who went, gathered until it is told. Free functions over a plain
// value; names are bounded, and what has no room is counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

inline constexpr std::size_t member_names_max = 64;  // in each list, as the codec carries them

bool nothing(const wire::MemberChanges& changes) noexcept;

// Who came and goes again, or the other way round, is not named. The number of
// names for which there was no room.
std::size_t came(wire::MemberChanges& changes, PeerRef peer);
std::size_t went(wire::MemberChanges& changes, PeerRef peer);
std::size_t merge(wire::MemberChanges& changes, const wire::MemberChanges& later);

// The number of members, if those named are all the changes.
std::uint32_t explained(std::uint32_t before, const wire::MemberChanges& changes) noexcept;
// Makes those without a name as many as it takes to get from one number to the
// other, as far as the names do not explain it.
void explain(wire::MemberChanges& changes, std::uint32_t before, std::uint32_t now);

}  // namespace canopy::scribe
