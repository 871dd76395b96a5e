// What a node tells its parent of the members in its subtree, and what the root
// shows of all, in four bytes each. Plain values.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

inline constexpr std::uint32_t members_max = (1U << 29) - 1;  // more count as so many

struct MemberTally {
  std::uint32_t members : 29 = 0;
  std::uint32_t complete : 1 = 0;
  std::uint32_t itself : 1 = 0;
  std::uint32_t watched : 1 = 0;

  std::uint32_t bits() const noexcept {
    return members << 3 | complete << 2 | itself << 1 | watched;
  }
  friend bool operator==(const MemberTally&, const MemberTally&) = default;
};

inline MemberTally to_tally(const wire::Membership& from) noexcept {
  MemberTally tally;
  tally.members = std::min(from.members, members_max);
  tally.complete = from.complete;
  tally.itself = from.itself;
  tally.watched = from.watched;
  return tally;
}

inline wire::Membership to_wire(const MemberTally& tally) noexcept {
  return {tally.members, tally.complete == 1, tally.itself == 1, tally.watched == 1};
}

// The number of all members as watchers below a node were told it.
struct ShownMembers {
  std::uint32_t members : 29 = 0;
  std::uint32_t complete : 1 = 0;
  std::uint32_t known : 1 = 0;

  std::uint32_t bits() const noexcept { return members << 2 | complete << 1 | known; }
  friend bool operator==(const ShownMembers&, const ShownMembers&) = default;
};

inline ShownMembers shown_members(std::uint32_t members, bool complete) noexcept {
  ShownMembers shown;
  shown.members = std::min(members, members_max);
  shown.complete = complete;
  shown.known = 1;
  return shown;
}

}  // namespace canopy::scribe
