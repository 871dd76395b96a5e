// Anycast: a message to one willing member, near the sender.
//
// The search starts at the first tree node on the way to the root and goes
// through the tree depth-first, nearest child first (anycast_search.hpp). It is
// not repeated when it gets lost, so that never two members take one message.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <map>
#include <vector>

#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

class Anycasts {
 public:
  explicit Anycasts(Core& core) : core_(core) {}

  void start(const wire::GroupName& name, Buffer body, AnycastCompletion done, const TokenKey& key);
  // The search has come to this node: the first of the tree on the way, the root,
  // or one that another node sent it to.
  void visit(wire::Anycast message);
  // The root knows of no such group.
  void refuse_unknown(const wire::Anycast& message);
  void on_reply(const wire::AnycastReply& reply);
  void shut_down();
  void tick();
  MonoTime next_deadline() const { return timers_.next(); }

 private:
  void reply(const wire::Anycast& message, boost::system::error_code error, PeerRef member);
  wire::Peers nearest_first(const Group& group) const;

  Core& core_;
  std::map<std::uint64_t, AnycastCompletion> pending_;  // by sequence
  DeadlineSet<std::uint64_t> timers_;
};

}  // namespace canopy::scribe
