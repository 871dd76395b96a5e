// How many members a group has, told up its tree, and who comes and goes, shown
// down the tree to those who want it.
//
// Each node knows what its children have told it of their subtrees (Child::below)
// and tells its parent the sum by a MemberWord when it has changed, at most one per
// group and heartbeat interval. The JoinAck says what the parent counts so far: of a
// new child nothing, so that a JOIN that goes astray counts nobody. A word that got
// lost shows by the hash that the parent's heartbeats carry of all that it was told
// (Neighbors::Mismatch::words): the child tells everything again. So a quiet group
// costs nothing, and its numbers are right some heartbeats after the last change,
// whoever has moved or failed.
//
// A sum is complete only where nobody may be counted twice, or not at all. Whoever has
// moved to another parent takes its own for incomplete until the old one's, without it,
// must have come to the root (Core::settling_time); after a failure, until whatever
// counts the old parent must have noticed (Config::child_expiry more). So does the old
// parent for its own. Words that take a completeness back are told without a pause: so
// at each node one of the two says so as long as the two do not fit. (Unless that word
// is lost, because its link breaks or the old parent, or one above it, dies or hangs just then:
// heartbeats or Config::child_expiry put it right.)
//
// Names of who came and went travel with the words, on the way once: a lost one
// is missing, the number is not. A node names itself, its parent names it when it
// leaves or is dead; who moves to another parent is not named.
//
// Where somebody wants presence, the words say so (Membership::watched), up to the
// root, which tells down those branches at most one PresenceUpdate per heartbeat
// interval. What was shown is in the same hash.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/events.hpp"

namespace canopy::scribe {

class MemberCounts {
 public:
  explicit MemberCounts(Core& core) : core_(core) { core.counts = this; }
  MemberCounts(const MemberCounts&) = delete;
  MemberCounts& operator=(const MemberCounts&) = delete;

  // The own members want to know of each other (Events::presence), or no more.
  void watch(const Id& id, bool wanted);
  // What they were told last; nothing if that is still to come.
  std::optional<Presence> shown(const Id& id) const;

  // --- Messages ---
  void on_words(PeerRef from, const wire::MemberWords& words);
  void on_presence(PeerRef from, const wire::PresenceUpdate& update);
  // The parent counts, or has shown, something else than this node has told or seen.
  void tell_again(PeerRef parent);

  // This node is about to leave the tree.
  void take_leave(const Id& id);
  // Takes up what has changed.
  void look();
  void tick();
  MonoTime next_deadline() const;
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Change {
    wire::MemberChanges who;
    MonoTime since{};  // of the first of it
  };
  struct State {
    DeadlineSet<Id> due;     // to be looked at
    DeadlineSet<Id> paused;  // a word was told, or an update shown, within the interval
    std::map<Id, Change> changes;
  };
  using Batches = std::map<PeerRef, wire::MemberWords>;

  State& state();
  Change& change_of(const Id& id);
  wire::MemberChanges take_changes(const Id& id);
  void look_at(const Id& id, Duration delay);
  bool revokes(const Group& group, const Id& id) const;
  void review(const Id& id, Batches& batches);
  void tell(Group& group, const Id& id, Batches& batches);
  bool names_only_self(const wire::MemberChanges& who) const;
  bool patient(const Id& id);
  void show_as_root(Group& group, const Id& id);
  void show(Group& group, const Id& id, const ShownMembers& shown, wire::MemberChanges changes);
  void send(PeerRef to, wire::MemberWords& words);

  Core& core_;
  std::unique_ptr<State> state_;  // none before the first change
};

}  // namespace canopy::scribe
