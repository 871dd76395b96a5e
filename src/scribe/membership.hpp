// What a node's place in a group's tree says of members: the sum over its
// subtree, and what both ends of each edge have told each other of it. Free
// functions over Core, which keep the hashes of the edges (edge_set.hpp) right.
#pragma once

#include "scribe/core.hpp"

namespace canopy::scribe {

// Until when a node's sum is not complete, whatever its children say; the epoch's
// start if it may be.
MonoTime incomplete_until(const Group& group, MonoTime now);
// Of the node's whole subtree.
MemberTally tally_of(const Group& group, MonoTime now);

// Of a path from the root and of the group's access list, as this node knows it.
std::uint64_t edge_hash(const Core& core, const Group& group, const wire::Peers& path);
// The edge to the parent; and to a child, which knows the path that all were told.
Edge edge_above(const Core& core, const Group& group, const Id& id, const wire::Peers& root_path);
Edge edge_below(const Group& group, const Id& id, const Child& child);

// A child has told this.
void take_tally(Core& core, const Group& group, const Id& id, Child& child,
                const MemberTally& tally);
// The parent counts this node's subtree so.
void set_told(Core& core, Group& group, const Id& id, const MemberTally& tally);
// Watchers below are told that number.
void set_shown(Core& core, Group& group, const Id& id, const ShownMembers& shown);

// Whether anybody in the subtree wants to know of members.
bool watched(const Group& group);

wire::PresenceUpdate presence_of(const Group& group, const Id& id);

}  // namespace canopy::scribe
