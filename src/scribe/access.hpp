// Access lists: what they say, and how two versions of one become one. Pure
// functions.
//
// A list that was made from another one (its mark is among the ancestors) replaces
// it, so that a manager can loosen what was strict. Two that were changed apart
// become the intersection of both, right by right; everybody loses against a list.
// The result and its mark follow from the two alone, in whatever order, so that all
// who merge them agree. More than ancestors_max versions apart counts as apart: then
// the stricter is kept.
#pragma once

#include <string>

#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

bool grants(const wire::Grant& grant, const Id& peer) noexcept;
bool grants(const wire::Grant& grant, const PublicKey& key) noexcept;

// By the list, for group members and their managers; everybody without one.
const wire::Grant& grant_of(const wire::AccessRef& list, wire::Right right) noexcept;

// 0: no list.
inline std::uint64_t mark_of(const wire::AccessRef& list) noexcept { return list ? list->mark : 0; }

inline bool restricts_joining(const wire::AccessRef& list) noexcept {
  return list && !list->join.everybody;
}

// Of edges in the tree: both ends know the same list.
std::uint64_t access_hash(const wire::AccessRef& list) noexcept;

bool descends(const wire::AccessList& list, const wire::AccessList& from) noexcept;
wire::AccessRef merged(const wire::AccessRef& a, const wire::AccessRef& b);

// The next version: these rights, a mark that no other has.
wire::AccessRef next_version(const wire::AccessRef& before, const wire::AccessList& rights,
                             std::uint64_t mark);

// Whether it is the version with these rights that was made from the one with this
// mark (0: from none).
bool is_next(const wire::AccessRef& list, std::uint64_t before, const wire::AccessList& rights);

// What is signed to show a right.
std::string text_to_sign(const Id& group, wire::Right right, const PeerDescriptor& peer);

}  // namespace canopy::scribe
