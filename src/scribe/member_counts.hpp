// How many members a group has, told up its tree, and who comes and goes, shown
// down the tree to those who want it.
//
// Each node knows what its children have told it of their subtrees (Child::below)
// and tells its parent the sum: with the JOIN, and by a MemberWord when it has
// changed, at most one per group and heartbeat interval. The parent confirms with
// the JoinAck. A word that got lost shows by the hash that the parent's heartbeats
// carry of all that it was told (Neighbors::Mismatch::words): the child tells
// everything again. So a quiet group costs nothing, and its numbers are right some
// heartbeats after the last change, whoever has moved or failed.
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
  explicit MemberCounts(Core& core) : core_(core) {}

  // The own members want to know of each other (Events::presence), or no more.
  void watch(const Id& id, bool wanted);
  // What they were told last; nothing if that is still to come.
  std::optional<Presence> shown(const Id& id) const;

  // --- Messages ---
  void on_words(PeerRef from, const wire::MemberWords& words);
  void on_presence(PeerRef from, const wire::PresenceUpdate& update);
  // The parent counts, or has shown, something else than this node has told or seen.
  void tell_again(PeerRef parent);

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
  void review(const Id& id, Batches& batches);
  void tell(Group& group, const Id& id, Batches& batches);
  bool patient(const Group& group, const Id& id, const MemberTally& now) const;
  void show_as_root(Group& group, const Id& id);
  void show(Group& group, const Id& id, const ShownMembers& shown, wire::MemberChanges changes);
  void send(PeerRef to, wire::MemberWords& words);

  Core& core_;
  std::unique_ptr<State> state_;  // none before the first change
};

}  // namespace canopy::scribe
