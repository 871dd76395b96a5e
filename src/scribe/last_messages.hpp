// A group's latest message for those who join it: whoever is asked gives what it
// keeps (LastStore), or asks its parent on behalf of all who want it.
//
// A JOIN and its JoinAck tell how late a message either side knows of. So a parent
// that was not reached by it, or a root that has taken over, learns that there is a
// later one, and fetches it from the child; whoever is not the root passes it on to it,
// and the root tells all below that there is one, who ask when they are asked. A root
// that hands a group over gives its latest message along. So it is lost only with the
// last node that has it. A root that has just taken over and has none waits for its
// children before it says so.
//
// What a child says is taken by the root alone, and only with a stamp from before its own
// reign: nobody below can put a message ahead of what the root has sent. What the
// last root has sent nobody but those who have it knows, so after a root's death, until
// its successor sends something, a peer of the tree that lies can put a message in the
// last one's place. (A root that knows nothing of the reigns before, as all who kept
// the group's state died at once, takes none.)
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <canopy/error.hpp>

#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

struct RootRecord;

class LastMessages {
 public:
  explicit LastMessages(Core& core) : core_(core) {}

  // Done within Config::last_timeout: with the message, or nothing if nobody who
  // was asked has one. timed_out, shutting_down: nobody has answered.
  void ask(const Id& id, LastCompletion done);

  // `record`: what this node knows of the group as its root, if it is that.
  // The child tells how late a message it knows of; so does the parent.
  void on_join(const wire::GroupJoin& join, const RootRecord* record);
  void on_join_ack(PeerRef from, const wire::JoinAck& ack);
  void on_request(PeerRef from, const wire::LastRequest& request);
  void on_reply(PeerRef from, const wire::LastReply& reply, const RootRecord* record);

  void shut_down();
  void tick();
  MonoTime next_deadline() const;
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Search {
    wire::Peers askers;  // children
    std::vector<LastCompletion> users;
    MonoTime deadline = never;
  };
  // Of a later message that a child knows of, as it says.
  struct Fetch {
    wire::Position stamp;
    unsigned attempts = 0;
  };
  struct State {
    std::map<Id, Search> searches;
    DeadlineSet<Id> timers;  // of searches
    std::map<Id, Fetch> fetches;
    DeadlineSet<Id> fetch_timers;
  };

  State& state();
  bool sure(const Id& id) const;
  void claimed(const Group& group, const Id& id, const wire::Position& stamp,
               const RootRecord* record);
  void refuse();
  void ask_children(const Id& id);
  Search& search(const Group& group, const Id& id);
  void ask_parent(const Group& group, const Id& id);
  void finish(const Id& id, errc reason = errc{});
  void give(PeerRef to, const Id& id);
  void on_reply_from_above(const Group& group, const wire::LastReply& reply);
  void on_reply_from_below(const Group& group, const wire::LastReply& reply,
                           const RootRecord* record);
  void spread(const Group& group, const Id& id, const wire::Position& stamp);

  Core& core_;
  std::unique_ptr<State> state_;  // none before the first question
};

}  // namespace canopy::scribe
