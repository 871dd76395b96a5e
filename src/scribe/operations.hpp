// How Scribe's operations end. Completions are called on the overlay's thread,
// never from within the call that started the operation, exactly once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <boost/system/error_code.hpp>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "scribe/access_control.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

struct PublishOutcome {
  boost::system::error_code error;
  wire::MessageId id;  // zero if the message never left for want of room or size
  PeerRef root;        // empty if not known (ack none)
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  wire::Reach reach;                        // ack members
  Duration retry_after = Duration::zero();  // errc::limit: then there is room at the root
};

struct PublishTerms {
  // ack members: zero: Config::tracked_timeout; child_expiry at the most. Begins anew when
  // it is the message's turn, if it had to wait for that (publish_lines.hpp).
  Duration within = Duration::zero();
  TokenKey key = nullptr;  // where the group's access list asks for one
  // Not 0: once one of those with the same number has failed, later ones are not sent
  // (publish_chains.hpp). One that nobody waits for fails unnoticed and breaks nothing.
  std::uint64_t chain = 0;
  MonoTime replies_until{};  // of a request (asker.hpp)
};

// Of a create. `mode`: the group's, also where that is the error.
struct CreateOutcome {
  bool existed = false;  // it was there already, with an access list of its own
  wire::GroupMode mode = wire::GroupMode::best_effort;
};

// What a group's root knows of its members.
struct MemberCount {
  std::uint32_t members = 0;
  bool complete = false;  // else about so many
};

// When no member is willing: how long to look again and again.
enum class Patience : std::uint8_t {
  none,
  while_busy,      // until the deadline, but only while there are members
  until_deadline,  //
};

struct AnycastTerms {
  Duration within = Duration::zero();  // zero: Config::request_timeout
  Patience patience = Patience::none;
  TokenKey key = nullptr;  // where the group's access list asks for one
};

struct AnycastOutcome {
  boost::system::error_code error;
  wire::MessageId id;  // zero if it never left
  PeerRef member;      // that took the message
};

struct RequestTerms {
  bool to_all = false;                       // members; else to one
  Duration within = Duration::zero();        // zero: Config::reply_timeout
  Patience patience = Patience::while_busy;  // to one
  // To all: complete after so many that say that all went well; 0: as many as come.
  std::size_t replies = 0;
  std::size_t replies_max = 1000;  // kept; more are counted as dropped
  std::size_t bytes_max = std::size_t{16} << 20;
  TokenKey key = nullptr;  // where the group's access list asks for one
};

struct GivenReply {
  PeerRef from;
  std::uint32_t status = 0;
  Buffer body;
};

struct RequestOutcome {
  boost::system::error_code error;
  wire::MessageId id;  // zero if it never left
  std::vector<GivenReply> replies;
  std::optional<std::uint64_t> members;  // to all: that have got it, once that is known
  bool complete = false;                 // no further reply would have come
  std::uint64_t declined = 0;            // by subscribers
  std::uint64_t dropped = 0;             // replies, for want of room
};

using Completion = std::function<void(boost::system::error_code)>;
using PublishCompletion = std::function<void(const PublishOutcome&)>;
using AnycastCompletion = std::function<void(const AnycastOutcome&)>;
using RequestCompletion = std::function<void(const RequestOutcome&)>;
using CreateCompletion = std::function<void(boost::system::error_code, const CreateOutcome&)>;
// The group as it is; nothing but its defaults where there is none.
using StateCompletion = std::function<void(boost::system::error_code, const wire::GroupState&)>;
using MemberCountCompletion = std::function<void(boost::system::error_code, MemberCount)>;
// Nothing: nobody who was asked has one, or there is an error.
using LastCompletion =
    std::function<void(boost::system::error_code, const std::optional<wire::Multicast>&)>;
using TreeCompletion = std::function<void(boost::system::error_code, const wire::TreeReply&)>;

}  // namespace canopy::scribe
