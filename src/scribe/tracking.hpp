// Tracked multicasts: acknowledgements of members, added up the tree.
//
// The root sends such a multicast in a round of its own, which every node
// passes on to its children and answers once all of them have answered, with
// the number of members below it and the subtrees that did not get it. A child
// that stays silent is sent the message again, and asked again once it is known
// to have that, until the time is up; each level waits for a little less than
// the one above. A repetition is answered from what is remembered.
//
// Complete means: every member that was in the tree when the root sent the
// message, and still is, has got it. For that, each node of the tree always has
// one that answers for it: its parent, from the moment of the JoinAck until the
// child is told of elsewhere (LostSubtrees). A JoinAck says up to which round
// the new parent does not answer for the child, because those may have passed;
// the child's Leave tells the old parent so, which answers for it up to there.
//
// Per message O(children). Bounded: a round that has no room is answered as not
// complete, and counted.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/quota.hpp"
#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/tracked_round.hpp"

namespace canopy::scribe {

// Of the time that whoever asks has, the part that is left for those below, so that their
// answers come before it is over: twice the step's round trip less, if that is known, for links
// that are slower just now; of little time an eighth, as trees may be deep. Nobody waits for
// longer than lost children are remembered.
inline std::uint32_t time_below(const Config& config, std::uint32_t within_ms,
                                std::optional<Duration> round_trip = std::nullopt) {
  using std::chrono::milliseconds;
  const auto longest = std::chrono::duration_cast<milliseconds>(config.child_expiry);
  Duration step = config.request_retry_interval / 8;
  if (round_trip) step = std::min<Duration>(step, 2 * *round_trip + milliseconds(10));
  const auto within = std::min<std::int64_t>(within_ms, longest.count());
  const auto less =
      std::min<std::int64_t>(within / 8, std::chrono::duration_cast<milliseconds>(step).count());
  return static_cast<std::uint32_t>(std::max<std::int64_t>(within - less, 1));
}

class Tracking {
 public:
  // A round of this node's own is over.
  using Report = std::function<void(const TrackedRound& round)>;

  Tracking(Core& core, Report report);

  // --- Multicasts that are tracked ---
  // It has come from the asker, or starts here, and goes on to all children but
  // the asker. `has_it`: this node's member.
  void begin(Group& group, const wire::Multicast& message, PeerRef asker, bool own, bool has_it);
  // Whether this node has had it in this round; the sender is answered then.
  bool repeated(PeerRef from, const wire::Multicast& message);
  // From a peer that is not the parent: this node does not pass it on.
  void refuse(PeerRef from, const wire::Multicast& message);
  // This node has passed it by (ordered groups), or is about to get to it.
  void passed_by(PeerRef from, const wire::Multicast& message);
  void not_yet(PeerRef from, const wire::Multicast& message);

  // --- Messages ---
  void on_ack(PeerRef from, const wire::MulticastAck& ack);
  void on_request(PeerRef from, const wire::AckRequest& request);

  // --- For Tree: subtrees that are lost, moved, settled ---
  // Its parent now, which answers for it after the latest round.
  void child_taken(Group& group, PeerRef child);
  void child_lost(Group& group, const Id& id, PeerRef child);
  void child_left(Group& group, PeerRef child, const wire::Leave& leave);
  // This node has no children any more, but maybe rounds that are under way.
  void leaves_tree(const Group& group, const Id& id);
  // After child_lost of all groups that it is a child in.
  void peer_failed(PeerRef peer);
  // Nothing is known of what the root before had in its tree.
  void root_lost(Group& group, PeerRef root);
  void root_lost(Group& group, PeerRef root, MonoTime until);

  // --- At the root ---
  bool has_room_for(const Buffer& body) const noexcept { return room_.has_room_for(body.size()); }
  // Another root's later round is known of: a larger epoch has to begin, or whoever
  // moves, and is answered for from that round on, would be missing in this root's.
  static bool overtaken(const Group& group) {
    return group.issued_round.epoch < group.tracked.epoch;
  }
  static wire::Position next_round(Group& group);
  bool is_own(const wire::MessageId& id) const;
  // The publisher waits for the result of a round of this node's own; here it is,
  // if there is one already.
  std::optional<wire::Reach> result_for(const wire::Publish& publish);

  bool waiting() const;  // for any child
  void give_up_all();
  void tick();
  MonoTime next_deadline() const { return timers_.next(); }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  using Rounds = std::map<wire::MessageId, TrackedRound>;

  TrackedRound* find(const wire::MessageId& id);
  void await_children(TrackedRound& round, const Group& group, PeerRef asker);
  void note_lost(TrackedRound& round, const Group& group);
  void settle(TrackedRound& round);
  void finish(TrackedRound& round);
  void forget(Rounds::iterator round);
  void ask_again(TrackedRound& round);
  void answer(const TrackedRound& round, PeerRef asker);
  void answer(PeerRef to, const wire::Multicast& message, wire::TrackState state,
              wire::Reach reach = {});
  void look_at(TrackedRound& round, MonoTime at);
  MonoTime expiry() const { return core_.now() + core_.config.child_expiry; }
  static LostSubtrees& lost_of(Group& group);
  void inherit(Group& group, const std::vector<wire::LostSubtree>& left);

  Core& core_;
  Report report_;
  Rounds rounds_;
  DeadlineSet<wire::MessageId> timers_;
  Quota room_;
};

}  // namespace canopy::scribe
