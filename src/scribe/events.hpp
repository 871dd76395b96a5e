// What a node's own members get from Scribe, and what its host has to know of
// the ring. Called on the overlay's thread, when the protocol is at rest:
// implementations may call Scribe.
#pragma once

#include <string>
#include <string_view>

#include <boost/system/error_code.hpp>

#include "base/id.hpp"
#include "scribe/order_item.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

// The members of a group, as those who watch it are told.
struct Presence {
  std::uint32_t members = 0;
  bool complete = false;             // about so many, if not
  wire::MemberChanges changes = {};  // since the time before
};

class Events {
 public:
  // A multicast for a group that this node is a member of. If it has an asker, the
  // host then says how many replies there will be, by Scribe::expect_replies().
  virtual void multicast(const wire::Multicast& message) = 0;
  // In an ordered group: these would come now, and cannot be got any more.
  virtual void gap(const Id& /*group*/, const Missed& /*missed*/) {}
  // In a best-effort group: so many did not come, a while ago.
  virtual void lost(const Id& /*group*/, std::uint64_t /*count*/) {}
  // The group's members have changed, and this node watches them; the first time, how
  // many there are.
  virtual void presence(const Id& /*group*/, const Presence& /*presence*/) {}
  // An anycast reached this node, a member: whether it takes it; if it wants a
  // reply, one has to follow. Must not call Scribe.
  virtual bool anycast(const wire::Anycast& message) = 0;
  // Nobody waits for what has not been replied yet to this request.
  virtual void request_over(const wire::MessageId& /*id*/, boost::system::error_code /*reason*/) {}
  // The membership is over although nobody left: denied, no_such_group (it was
  // deleted), name_conflict.
  virtual void detached(const Id& group, boost::system::error_code reason) = 0;
  // Config::keeps_states: the state is to be on disk, in place of what is there of
  // this group; Scribe::written says that it is. Or is not to be there any more.
  virtual void keep_state(const wire::GroupState& /*state*/) {}
  virtual void forget_state(const Id& /*group*/) {}
  // This node is, or was, one of two roots of a group, and something that one of them had is
  // not kept: `what`, in words for people.
  virtual void root_state_lost(const wire::GroupName& /*group*/, const std::string& /*what*/) {}
  // As in pastry::Application.
  virtual void join_stalled(std::string_view /*reason*/) {}
  virtual void superseded(PeerRef /*by*/) {}

 protected:
  ~Events() = default;
};

}  // namespace canopy::scribe
