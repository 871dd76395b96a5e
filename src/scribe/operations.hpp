// How Scribe's operations end. Completions are called on the overlay's thread,
// never from within the call that started the operation, exactly once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <boost/system/error_code.hpp>

#include "base/peer.hpp"
#include "base/time.hpp"
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

// Of a create. `mode`: the group's, also where that is the error.
struct CreateOutcome {
  bool existed = false;  // it was there already, with an access list of its own
  wire::GroupMode mode = wire::GroupMode::best_effort;
};

// What a group's root knows of its members.
struct MemberCount {
  std::uint32_t members = 0;
  bool complete = false;  // else at least so many
};

using Completion = std::function<void(boost::system::error_code)>;
using PublishCompletion = std::function<void(const PublishOutcome&)>;
// The member that took the message.
using AnycastCompletion = std::function<void(boost::system::error_code, PeerRef member)>;
using CreateCompletion = std::function<void(boost::system::error_code, const CreateOutcome&)>;
// The group as it is; nothing but its defaults where there is none.
using StateCompletion = std::function<void(boost::system::error_code, const wire::GroupState&)>;
using MemberCountCompletion = std::function<void(boost::system::error_code, MemberCount)>;
// Nothing: nobody who was asked has one.
using LastCompletion = std::function<void(const std::optional<wire::Multicast>&)>;
using TreeCompletion = std::function<void(boost::system::error_code, const wire::TreeReply&)>;

}  // namespace canopy::scribe
