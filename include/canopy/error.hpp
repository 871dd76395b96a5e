// The errors of Canopy's public interface, as boost::system error codes.
//
// message() says what is wrong; where something can be done about it, it says
// what. Numbers are part of the protocol: they are never reused.
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/is_error_code_enum.hpp>

namespace canopy {

enum class errc {
  not_active = 1,       // this peer has not (yet) joined the ring
  timed_out = 2,        // no answer within the deadline
  shutting_down = 3,    // this peer is departing
  name_conflict = 4,    // another (name, creator) has this group id
  no_such_group = 5,    // nobody is in the tree and the root does not know it
  no_member = 6,        // an anycast found nobody willing
  too_large = 7,        // the message exceeds the configured size
  queue_full = 8,       // a bounded queue has no room; try again later
  not_joined = 9,       // the operation needs membership in the group
  bad_name = 10,        // a group or node name that is empty, too long or not text
  unreachable = 11,     // no route to the peer or root
  protocol = 12,        // the other side sent something malformed
  wrong_cluster = 13,   // cluster UUID, b or |L| differ
  version = 14,         // no common protocol version
  limit = 15,           // a configured limit is reached
  denied = 16,          // an access list forbids it
  cancelled = 17,       // the operation was cancelled
  lost_root = 18,       // the root went away before it could acknowledge
  busy = 19,            // the same operation is under way already
  unsupported = 20,     // this mode does not offer it
  no_such_queue = 21,   // the gateway has no queue of that name
  no_such_bridge = 22,  // the queue has no bridge to that group
  unavailable = 23,     // the queues take nothing at the moment: a full disk, too much at once
  mode_conflict = 24,   // the group is there, in another mode
  not_awaited = 25,     // nobody waits for a reply to this (any more)
  lost_member = 26,     // the member that had the request went away, and no other took it
  conflict = 29,        // somebody else has changed it meanwhile
  unconfirmed = 30,     // done, but not all peers that are to keep it have said that they do
  chain_broken = 31,    // one before it in its chain has failed: it was not sent
};

const boost::system::error_category& error_category() noexcept;
boost::system::error_code make_error_code(errc error) noexcept;

}  // namespace canopy

template <>
struct boost::system::is_error_code_enum<canopy::errc> : std::true_type {};
