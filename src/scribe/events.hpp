// What a node's own members get from Scribe, and what its host has to know of
// the ring. Called on the overlay's thread, when the protocol is at rest:
// implementations may call Scribe.
#pragma once

#include <string_view>

#include <boost/system/error_code.hpp>

#include "base/id.hpp"
#include "scribe/order_item.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

class Events {
 public:
  // A multicast for a group that this node is a member of. If it has an asker, the
  // host then says how many replies there will be, by Scribe::expect_replies().
  virtual void multicast(const wire::Multicast& message) = 0;
  // In an ordered group: these would come now, and cannot be got any more.
  virtual void gap(const Id& /*group*/, const Missed& /*missed*/) {}
  // In a best-effort group: so many did not come, a while ago.
  virtual void lost(const Id& /*group*/, std::uint64_t /*count*/) {}
  // An anycast reached this node, a member: whether it takes it; if it wants a
  // reply, one has to follow. Must not call Scribe.
  virtual bool anycast(const wire::Anycast& message) = 0;
  // Nobody waits for what has not been replied yet to this request.
  virtual void request_over(const wire::MessageId& /*id*/, boost::system::error_code /*reason*/) {}
  // The membership is over although nobody left (the root refuses the group).
  virtual void detached(const Id& group, boost::system::error_code reason) = 0;
  // As in pastry::Application.
  virtual void join_stalled(std::string_view /*reason*/) {}
  virtual void superseded(PeerRef /*by*/) {}

 protected:
  ~Events() = default;
};

}  // namespace canopy::scribe
