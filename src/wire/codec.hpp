// Between messages and frames. Nothing outside this layer sees Protobuf.
//
// A message is encoded when it is gathered for writing, in the order of
// writing, because group ids are interned per link (group_dictionary.hpp). Its
// body is shared, never copied: by all destinations when encoding, with the
// slab that was read into when decoding. Functions without state of their own;
// the tables and dictionaries belong to the caller's thread.
#pragma once

#include <cstddef>
#include <optional>

#include <boost/system/result.hpp>

#include "base/peer.hpp"
#include "wire/frame.hpp"
#include "wire/group_dictionary.hpp"
#include "wire/message.hpp"

namespace canopy::wire {

// Bounds of what one message may list; more is malformed.
namespace limit {
inline constexpr std::size_t peers = 1024;  // in one list
inline constexpr std::size_t rows = 64;
inline constexpr std::size_t leaving = 16;       // roots that a Routed has passed
inline constexpr std::size_t groups = 4096;      // in a GroupSetPage
inline constexpr std::size_t lost = 256;         // subtrees in a Leave
inline constexpr std::size_t passed_over = 64;   // members that a request has been at
inline constexpr std::size_t member_names = 64;  // in one list of MemberChanges
inline constexpr std::size_t states = 1024;      // in RootStates; max_header may be reached earlier
inline constexpr std::size_t addresses = 8;      // of a peer
inline constexpr std::size_t name = 255;         // bytes of a name, zone or host
inline constexpr std::size_t key = 255;          // bytes of Multicast::key
}  // namespace limit

// Fails with errc::too_large if the message passes a limit above, max_header or
// max_frame, and with errc::bad_name if a group's name is not printable; the
// dictionary is then as good as if it had never been tried. A message must have
// the peers that it cannot do without (joiner, child, origin, a RootAddress's
// root).
boost::system::result<EncodedFrame> encode(const Message& message, const PeerTable& peers,
                                           SendDictionary& groups,
                                           std::size_t max_frame = default_max_frame);

// No message: well-formed, but of a kind or with a value that a later version
// introduced; count it and go on. What an accepted message holds: every peer
// that the sender may not leave out, ids of full length, lists within their
// bounds, text without control characters. Numbers may be anything that their
// type holds: receivers check them against their own tables.
Decoded<std::optional<Message>> decode(const Frame& frame, PeerTable& peers,
                                       ReceiveDictionary& groups);

}  // namespace canopy::wire
