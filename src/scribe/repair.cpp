#include "scribe/repair.hpp"

#include "base/rare.hpp"
#include "scribe/group_set_pages.hpp"
#include "scribe/member_counts.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

namespace {

// Orphans of one parent do not all speak at the same moment.
constexpr int rejoin_spread_share = 10;  // of a heartbeat interval
// A false alarm costs a JOIN for each of a parent's edges: with more it is not worth it.
constexpr std::size_t early_edges_max = 64;
// Round trips that fit the time for an answer.
constexpr int round_trips_min = 3;

}  // namespace

void Repair::tick() {
  const Neighbors::Due due = core_.neighbors.take_due(core_.now());
  core_.counters.heartbeats_suppressed += due.suppressed;
  for (const PeerRef peer : due.heartbeats) {
    ++core_.counters.heartbeats_sent;
    core_.send(peer, core_.neighbors.heartbeat_for(peer));
  }
  for (const PeerRef peer : due.quiet_parents) ask(peer);
  for (const PeerRef peer : due.mute_parents) leave_early(peer);
  for (const PeerRef peer : due.doubtful_parents) doubt(peer);
  for (const PeerRef peer : due.silent_parents) {
    tree_.parent_lost(peer, Tree::Loss::silent,
                      core_.config.heartbeat_interval / rejoin_spread_share);
  }
  for (const PeerRef peer : due.silent_children) {
    ++core_.counters.children_expired;
    for (const Id& id : shared_groups(peer, Side::parent_of)) {
      tree_.strike_child(id, peer, Tree::Loss::failed);
    }
  }
}

// Whatever it answers is a sign of life to Pastry. Roots are replaced by their
// neighbours on the ring, not by their children, and in their own time.
void Repair::ask(PeerRef parent) {
  const Duration for_answer = core_.config.heartbeat_interval / TrafficWatch::patience_share;
  const auto round_trip = core_.pastry.round_trip(parent);
  if (!round_trip || *round_trip * round_trips_min > for_answer) return;
  if (core_.neighbors.edges_from(parent) > early_edges_max) return;
  if (groups_below(parent).empty()) return;
  ++core_.counters.quiet_parents_asked;
  core_.pastry.suspect(parent);
}

void Repair::leave_early(PeerRef parent) {
  if (!core_.pastry.suspected(parent)) return;
  for (const Id& id : groups_below(parent)) {
    rare<"trees: a mute parent is left">();
    ++core_.counters.mute_parents_left;
    tree_.give_up_parent(id, parent, Tree::Loss::silent);
  }
}

// Of which it is the parent, but not the root.
std::vector<Id> Repair::groups_below(PeerRef parent) const {
  std::vector<Id> groups;
  for (const auto& [id, group] : core_.groups) {
    if (group.parent() == parent && group.root_path().size() > 1) groups.push_back(id);
  }
  return groups;
}

// Pastry replaces a root only when its neighbours have found it dead. They
// start to look into it when a message for it finds no answer, so one is sent
// ahead of the JOIN that will be needed.
void Repair::doubt(PeerRef parent) {
  core_.pastry.suspect(parent);
  for (const auto& [id, group] : core_.groups) {
    if (group.parent() != parent || group.root_path().size() != 1) continue;
    core_.pastry.route(id, wire::TreeRequest{0, id, core_.self});
    break;
  }
}

void Repair::on_heartbeat(PeerRef from, const wire::TreeHeartbeat& heartbeat) {
  const Neighbors::Mismatch mismatch = core_.neighbors.on_heartbeat(from, heartbeat, core_.now());
  if (mismatch.parent_of) send_pages(from, Side::parent_of);
  if (mismatch.child_of) send_pages(from, Side::child_of);
  if (mismatch.words) counts_.tell_again(from);
}

void Repair::send_pages(PeerRef to, Side side) {
  rare<"trees: neighbours disagree about shared groups">();
  ++core_.counters.set_mismatches;
  const std::vector<Id> groups = shared_groups(to, side);
  const std::size_t start = core_.env.random().below(groups.size() / page_groups_max + 1);
  for (wire::GroupSetPage& page : make_pages(groups, side == Side::parent_of, start)) {
    ++core_.counters.set_pages_sent;
    core_.send(to, std::move(page));
  }
}

std::vector<Id> Repair::shared_groups(PeerRef peer, Side side) const {
  std::vector<Id> groups;
  for (const auto& [id, group] : core_.groups) {
    if (side == Side::child_of) {
      // A former parent strikes nobody that is still to say goodbye to it.
      if (group.parent() == peer || group.untold_parent() == peer) groups.push_back(id);
    } else if (const Child* child = group.children.find(peer); child && child->acknowledged) {
      groups.push_back(id);
    }
  }
  return groups;
}

void Repair::on_page(PeerRef from, const wire::GroupSetPage& page) {
  if (!well_formed(page)) {
    ++core_.counters.malformed;
  } else if (page.as_parent) {
    settle_as_child(from, page);
  } else {
    settle_as_parent(from, page);
  }
}

// The sender tells in which groups it takes this node for its parent.
void Repair::settle_as_parent(PeerRef child, const wire::GroupSetPage& page) {
  const PageComparison groups = compare(page, shared_groups(child, Side::parent_of));
  for (const Id& id : groups.only_theirs) core_.send(child, wire::Orphaned{id});
  // A JoinAck may have crossed the page: entries that are this young stay.
  const Duration guard = 2 * core_.config.heartbeat_interval;
  for (const Id& id : groups.only_ours) {
    const Child* entry = core_.find(id)->children.find(child);
    if (ChildrenTable::age(*entry, core_.now()) < guard) continue;
    tree_.strike_child(id, child, Tree::Loss::silent);
  }
  // Or it is the path that it does not know.
  for (const Id& id : groups.both) tree_.tell_path(child, id);
}

// The sender tells in which groups it takes this node for its child.
void Repair::settle_as_child(PeerRef parent, const wire::GroupSetPage& page) {
  const PageComparison groups = compare(page, shared_groups(parent, Side::child_of));
  for (const Id& id : groups.only_theirs) tree_.disclaim(parent, id);
  for (const Id& id : groups.only_ours) tree_.give_up_parent(id, parent, Tree::Loss::told);
}

}  // namespace canopy::scribe
