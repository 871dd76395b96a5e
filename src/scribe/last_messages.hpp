// A group's latest message for those who join it: whoever is asked gives what it
// keeps (LastStore), or asks its parent on behalf of all who want it.
//
// A JOIN and its JoinAck tell how late a message either side knows of. So a parent
// that was not reached by it, or a root that has taken over, learns that there is a
// later one, fetches it from the child and passes it up; other children are told
// that there is one, and ask when they are asked. A root that hands a group over
// gives its latest message along. So it is lost only with the last node that has
// it. A root that has just taken over and has none waits for its children before it
// says so.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

struct RootRecord;

class LastMessages {
 public:
  explicit LastMessages(Core& core) : core_(core) {}

  // Done within Config::last_timeout: with the message, or nothing if nobody who
  // was asked has one.
  void ask(const Id& id, LastCompletion done);

  // The child tells how late a message it knows of; so does the parent.
  void on_join(const wire::GroupJoin& join);
  void on_join_ack(PeerRef from, const wire::JoinAck& ack);
  void on_request(PeerRef from, const wire::LastRequest& request);
  // `record`: what this node knows of the group as its root, if it is that.
  void on_reply(PeerRef from, const wire::LastReply& reply, const RootRecord* record);

  void tick();
  MonoTime next_deadline() const;
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Search {
    wire::Peers askers;  // children
    std::vector<LastCompletion> users;
    MonoTime deadline = never;
  };
  struct State {
    std::map<Id, Search> searches;
    DeadlineSet<Id> timers;  // of searches
    // Groups in which children know of a later message, and how often they were asked.
    std::map<Id, unsigned> fetches;
    DeadlineSet<Id> fetch_timers;
  };

  State& state();
  void fetch(const Id& id);
  void ask_children(const Id& id);
  Search& search(const Group& group, const Id& id);
  void ask_parent(const Group& group, const Id& id);
  void finish(const Id& id);
  void give(PeerRef to, const Id& id);
  void spread(const Group& group, const wire::LastReply& reply, PeerRef from);

  Core& core_;
  std::unique_ptr<State> state_;  // none before the first question
};

}  // namespace canopy::scribe
