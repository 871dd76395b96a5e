// Being the root of groups: finding out what a group is, keeping its state on
// the peers around, taking over from a failed root and handing over to a closer
// peer.
//
// A peer that becomes the root of a group it does not know asks the others of
// the k closest before it answers for the group: a tree may exist. Routed
// messages wait meanwhile, in bounded number. So does a root that was stopped for a
// while, before it serves again: another may have taken over. An old root serves its tree until
// the new one has its state and has taken it for its child, so that messages
// reach everybody by one way or both.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/system/error_code.hpp>

#include "base/quota.hpp"
#include "scribe/core.hpp"
#include "scribe/keeping.hpp"
#include "scribe/operations.hpp"
#include "scribe/root_registry.hpp"
#include "scribe/state_transfers.hpp"
#include "wire/message.hpp"

namespace canopy::scribe {

class Ordering;
class Tracking;
class Tree;

class Roots {
 public:
  // Called with each message that waited for a search, once it is over: `known`
  // tells whether this node serves the group now.
  using Replay = std::function<void(const wire::RoutedBody& body, bool known)>;

  Roots(Core& core, Tree& tree, Ordering& ordering, Tracking& tracking, Replay replay);

  // This node is to be the root of a group that it is in the tree of.
  void become_root_of(const Id& id);
  // Whether this node serves the group as its root. If it does not yet but is to
  // (Pastry has delivered a message here), it starts to; as long as that takes,
  // the answer is no and the message is kept for later if there is room.
  bool serve_or_hold(const Id& id, const wire::RoutedBody& body);
  // For each message that this root is to serve: whether it has to ask first if
  // it still is the root. The message is kept for later if there is room; but not
  // one that may have waited here while another root has had it: whoever still
  // wants it served sends it again.
  bool hold_in_doubt(const Id& id, const wire::RoutedBody& body);
  // A JOIN is delivered here: a group that is known, by its tree or its state,
  // has this node for its root from now on.
  void prepare_for_join(const Id& id);

  // --- What is created (root_administration.cpp) ---
  struct Created {
    boost::system::error_code error;
    bool existed = false;
    wire::GroupMode mode = wire::GroupMode::best_effort;
  };
  // Founds a group that a search has found unknown, or confirms it as created.
  Created create(const wire::GroupCreate& create);
  // Of a group that was created: no_such_group, denied, conflict.
  boost::system::error_code set_access(const wire::GroupChange& change);
  boost::system::error_code remove(const wire::GroupChange& change);
  // What another peer has kept of a group that this is the root of.
  void adopt(const wire::GroupState& state);
  // Calls it when this node's disk and the replicas have the state as it is now, or
  // with errc::unconfirmed after a while.
  // `within_ms`: so long the asker waits, or 0.
  void when_kept(const Id& id, PeerRef asker, std::uint32_t within_ms, Completion done);
  // The group as it is, if it was created or is in use.
  std::optional<wire::GroupState> known(const Id& id) const;

  // --- The host's disk ---
  // What it had at the start.
  void restore(const wire::GroupState& state);
  // An earlier life of this node was in the ring: it may have been the root of groups
  // that no disk keeps, as those that nobody has created.
  void returned();
  // It has this version of the state.
  void on_written(const Id& id, std::uint64_t epoch, std::uint64_t version);
  // Offers it to the roots, from time to time until they have it.
  void offer_kept();
  // What this node knows of a group from its place in the tree.
  void offer_list(const Group& group, const Id& id);
  void on_offered(const wire::GroupChangeReply& reply);
  // Tells the host what has changed.
  void write_changes();

  const RootRecord* record(const Id& id) const { return registry_.find(id); }
  // Somebody has got further in the group's order, or rounds, than this root: it
  // begins a larger epoch.
  void renew_epoch(const Id& id);
  // Whether it is being handed over to this peer.
  bool is_successor(const Id& id, PeerRef peer) const {
    const RootRecord* record = registry_.find(id);
    return record && record->own && record->successor == peer;
  }
  // Who takes over what this node is the root of, when it departs.
  PeerRef successor(const Id& id) const;

  // --- Messages ---
  void on_states(PeerRef from, const wire::RootStates& message);
  void on_states_ack(PeerRef from, const wire::RootStatesAck& message);
  void on_digest(PeerRef from, const wire::ReplicaDigest& digest);
  void on_state_request(PeerRef from, const wire::RootStateRequest& request);
  void on_state_reply(PeerRef from, const wire::RootStateReply& reply);

  void ring_changed();
  // This process was stopped: others may have taken over from it.
  void doubt();
  void leaf_failed(PeerRef peer);
  void peer_failed(PeerRef peer);
  void depart();
  void tick();
  MonoTime next_deadline() const;
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Search {
    std::uint32_t nonce = 0;
    wire::Peers unanswered;
    std::optional<wire::GroupState> best;
    std::vector<wire::RoutedBody> held;
    MonoTime deadline = never;
  };

  RootRecord* usable(const Id& id);
  void hold(const Id& id, const wire::RoutedBody& body);
  void start_search(const Id& id);
  void finish_search(const Id& id);
  void abdicate(const Id& id, RootRecord& record);
  void end_doubt(const Id& id, RootRecord& record, const Search& search);
  Search take_search(const Id& id);
  void give_back_room(const Search& search);
  void redirect_search(const Id& id, PeerRef root);
  bool valid(const wire::GroupState& state) const;

  enum class Start { founding, takeover };
  void serve(const Id& id, RootRecord& record, Start start, const wire::Position& closed = {});
  void begin_epoch(const Id& id, RootRecord& record, const wire::Position& closed = {});
  void begin_rounds(Group& group, RootRecord& record);
  void resume(const Id& id, RootRecord& record);
  void found(wire::GroupState state);
  void expect_strays(Group& group);
  bool stood_beside(PeerRef peer) const;
  boost::system::error_code change_mode(RootRecord& record, wire::GroupMode mode);
  boost::system::error_code may_change(const wire::GroupChange& change) const;
  wire::AccessRef new_list(const wire::AccessRef& before, const wire::AccessRef& wished);
  bool withdraw_deleted(const Id& id, RootRecord& record);
  static void learn_from_tree(wire::GroupState& state, const Group& group);
  void access_changed(const Id& id, RootRecord& record);
  void offer(const RootRecord& record);
  void offer_again(RootRecord& record);
  bool among_closest(const Id& id, std::size_t count) const;
  void offer(const wire::GroupState& state);
  void look_after_kept();
  bool is_kept(const Id& id, const RootRecord& record) const;
  void note_change(const Id& id);
  void forget(const Id& id);

  void review();
  void review_own(const Id& id, RootRecord& record);
  void replicate(const Id& id, RootRecord& record);
  void begin_handover(const Id& id, RootRecord& record, PeerRef closer);
  void hand_over_or_drop(const Id& id, RootRecord& record);
  void on_leaving(PeerRef peer);
  void lose_successor(PeerRef peer);
  bool is_leaving(PeerRef peer) const;
  bool take_over(PeerRef from, const wire::GroupState& state);
  bool keep(const wire::GroupState& state);
  void report_lost(const wire::GroupState& state, std::string what);
  void report_other_order(const wire::GroupState& theirs);
  void settle_mode(const Id& id, const RootRecord& record);
  bool keep_replica(PeerRef from, const wire::GroupState& state);
  void send_digests();
  void on_digest_answer(PeerRef from, const wire::RootStatesAck& answer);
  void handed_over_to(PeerRef peer, const Id& id);
  void plan_refresh();
  void refresh();
  bool abandoned(const Id& id, RootRecord& record);
  void send_transfers();

  Core& core_;
  Tree& tree_;
  Ordering& ordering_;
  Tracking& tracking_;
  Replay replay_;
  RootRegistry registry_;
  StateTransfers transfers_;
  wire::Peers leaving_;  // of those that were sent states: leave the ring, are not gone yet
  std::map<Id, Search> searches_;
  Quota held_;  // of all searches
  std::uint32_t last_search_nonce_ = 0;
  // Until then a group that is unknown here may have a tree yet: its root and all that
  // stood in for it may have been lost at once. By what this node has seen itself, and
  // by what others say, which is not passed on lest it go round for ever.
  MonoTime bereft_until_{};
  MonoTime others_bereft_until_{};
  std::set<PeerRef> undecided_;  // holders that have not answered their digest
  MonoTime review_at_ = never;
  MonoTime refresh_at_ = never;
  std::unique_ptr<Keeping> keeping_;  // once something was created here, or is on disk
};

}  // namespace canopy::scribe
