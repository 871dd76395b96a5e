// Growing and keeping the trees: JOINs and LEAVEs, parents and children, the
// path from the root; and who may be in them (tree_access.cpp).
//
// A part of a Scribe node; shares its Core and asks Roots where this node turns
// out to be a group's root. Not thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include <boost/system/error_code.hpp>

#include <canopy/error.hpp>

#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

class Ordering;
class Roots;
class Tracking;

class Tree {
 public:
  Tree(Core& core, Roots& roots, Ordering& ordering, Tracking& tracking)
      : core_(core), roots_(roots), ordering_(ordering), tracking_(tracking) {}

  // --- The node's own membership ---
  // `key`: of a token, to be shown where the group asks for one.
  void join(const wire::GroupName& name, const TokenKey& key, Completion done);
  void leave(const Id& id);

  // --- JOINs of others ---
  enum class Outcome { handled, pass_on };
  // `may_pass_on`: the JOIN can go on towards the root from here.
  Outcome on_join(const wire::GroupJoin& join, bool may_pass_on);
  // For this node alone: taken or refused.
  void on_direct_join(PeerRef from, const wire::GroupJoin& join);

  // --- Messages ---
  void on_join_ack(PeerRef from, const wire::JoinAck& ack);
  void on_join_refused(PeerRef from, const wire::JoinRefused& refusal);
  void on_leave(PeerRef from, const wire::Leave& leave);
  void on_orphaned(PeerRef from, const wire::Orphaned& orphaned);
  void on_access_update(PeerRef from, const wire::AccessUpdate& update);
  void on_access_claim(PeerRef from, const wire::AccessClaim& claim);
  void on_root_path(PeerRef from, const wire::RootPathUpdate& update);
  // A peer takes this node for its child in a group, and is told that it is not;
  // of a flood of such messages, not each is answered.
  void answer_stray(PeerRef from, const Id& id);
  void disclaim(PeerRef from, const Id& id);
  // A multicast has come; for the first time, if it is fresh.
  void on_multicast(const Group& group, const Id& id, PeerRef from, bool fresh);

  // --- Lost neighbours ---
  enum class Loss {
    silent,  // may be slow: what it sends still counts, and it is told
    told,    // it says itself that it is none, or no more for long
    failed,
  };
  // Every group of this parent looks for another one, within `spread`.
  void parent_lost(PeerRef peer, Loss loss, Duration spread);
  // In one group.
  void give_up_parent(const Id& id, PeerRef peer, Loss loss);
  void parent_failed(const Id& id, PeerRef peer);
  void child_lost(PeerRef peer);
  // One edge only: the child is dead, or found by repair to be none.
  void strike_child(const Id& id, PeerRef peer, Loss loss);
  void tell_path(PeerRef child, const Id& id);

  // --- For Roots ---
  // The group, in this node's tables from now on; null if there is no room.
  Group* enter(const Id& id, const wire::GroupName& name);
  // The group has become in_tree(): children and members learn it.
  void settled(const Id& id, bool path_changed);
  void look_for_parent(const Id& id, Duration delay, Way way = Way::usual);
  // Parts with the parent, because this node becomes the root.
  void release_parent(Group& group, const Id& id);
  // This node is no root any more, and below the peer that is one now.
  void step_down_below(Group& group, const Id& id, PeerRef root);
  // The peer is a child without having sent a JOIN: an old root.
  void adopt_old_root(const Id& id, PeerRef peer);
  // Asks the peer to be this node's parent instead of the present one, which
  // serves it until the JoinAck has come and the streams overlap.
  void ask_candidate(const Id& id, PeerRef candidate, std::uint32_t entries);
  // The list of the group in this life, which this node goes by from now on, and its
  // children; but what it has of a later life, or as a later version, it keeps.
  void take_list(Group& group, const Id& id, const wire::AccessRef& list, std::uint32_t life);
  // This node's membership ends if the list does not allow it.
  void check_membership(const Id& id);
  // The group cannot be: everybody below is told, the membership ends.
  void fail(const Id& id, wire::JoinRefusal reason);
  // Leaves the tree if nothing keeps this node in it.
  void prune(const Id& id);

  void activated();
  void depart();
  void leave_all();  // whoever is still served
  void tick();
  MonoTime next_deadline() const {
    return std::min(
        {join_timers_.next(), farewells_.next(), user_joins_.next(), claim_checks_.next()});
  }

 private:
  PeerRef random_first_hop();         // empty if there is nobody else
  void look_elsewhere(const Id& id);  // after a loop
  void look_for_room(Group& group, const Id& id);
  void send_join(const Id& id);
  bool has_room_for(const wire::GroupJoin& join, const Group& group) const;
  void part_with_parent(Group& group, const Id& id, std::uint32_t nonce);
  void acknowledge(Group& group, const Id& id, Child& child);
  void forget_acknowledgement(const Group& group, const Id& id, Child& child);
  void remove_child(Group& group, const Id& id, PeerRef peer);
  void lose_child(Group& group, const Id& id, PeerRef peer);
  void refuse(const wire::GroupJoin& join, wire::JoinRefusal reason);

  // --- Access ---
  wire::GroupJoin make_join(const Group& group, const Id& id, std::uint32_t nonce,
                            std::uint32_t entries = 0) const;
  bool may_be_member(const Group& group, const Id& id) const;
  bool may_be_member(const Group& group, const Id& id, const wire::ProofRef& proof) const;
  void note_claim(Group& group, Child& child, const wire::GroupJoin& join) const;
  bool may_be_child(Group& group, const Id& id, const Child& child, const wire::ProofRef& proof);
  bool admit(Group& group, const Id& id, PeerRef peer);
  void deny(Group& group, const Id& id, PeerRef peer);
  void doubt_children(Group& group, const Id& id);
  void deny_silent_children(const Id& id);
  void send_claim(const Group& group, const Id& id);
  void end_membership(const Id& id, errc reason);
  void on_denied(const Id& id);
  void dropped_by_parent(Group& group, const Id& id);
  // Of the edge to this child, as told_path_hash is another than before.
  void change_path_hash(const Group& group, const Id& id, const Child& child, std::uint64_t before);
  bool has_too_many_entries(const Group& group, PeerRef child) const;

  void send_leave(PeerRef to, const Id& id, std::uint32_t nonce);
  void send_leave(PeerRef to, const Id& id, std::uint32_t nonce, wire::LeaveReason reason);
  void plan_farewell(Group& group, const Id& id);
  void say_farewell(Group& group, const Id& id);
  wire::Peers nearest(const wire::Peers& path) const;
  wire::Peers path_below(const Group& group) const;
  Edge edge_above(const Group& group, const Id& id) const;  // to the parent
  void tell_path_if_changed(Group& group, const Id& id);
  void path_changed(Group& group, const Id& id, const wire::Peers& before);
  void tell_children_path(Group& group, const Id& id);
  void forget_parent(Group& group, const Id& id);
  void note_arrival(Group& group, const Id& id);
  void drop_looped_parent(Group& group, const Id& id);
  void lose_parent(Group& group, const Id& id, Loss loss, Duration spread);
  void send_off(Group& group, const Id& id, PeerRef peer);
  void refuse_pending_ancestors(Group& group, const Id& id);
  void complete(const Id& id, boost::system::error_code error);
  void tell_end(const Id& id, boost::system::error_code error);
  void give_up_join(const Id& id);
  std::vector<Id> groups_where(PeerRef parent) const;

  Core& core_;
  Roots& roots_;
  Ordering& ordering_;
  Tracking& tracking_;
  DeadlineSet<Id> join_timers_;
  DeadlineSet<Id> farewells_;     // LEAVEs that former parents are owed
  DeadlineSet<Id> user_joins_;    // of waiting_joins_, the first's
  DeadlineSet<Id> claim_checks_;  // by when children have to answer a new access list
  std::map<Id, std::vector<Completion>> waiting_joins_;
  // Against floods: the latest stray that was answered.
  PeerRef stray_peer_;
  Id stray_group_;
  MonoTime stray_answered_{};
};

}  // namespace canopy::scribe
