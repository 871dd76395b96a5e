// Keeping both ends of every tree edge of one mind: heartbeats, silence, and the
// exchange of group sets where hashes differ. A parent that stops in the middle
// of traffic, and does not answer either, is left before its heartbeats are missed.
//
// The child's word decides: an entry that the child does not know is struck, a
// child that the parent does not know looks for a parent again.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <vector>

#include "scribe/core.hpp"

namespace canopy::scribe {

class MemberCounts;
class Tree;

class Repair {
 public:
  Repair(Core& core, Tree& tree, MemberCounts& counts)
      : core_(core), tree_(tree), counts_(counts) {}

  void on_heartbeat(PeerRef from, const wire::TreeHeartbeat& heartbeat);
  void on_page(PeerRef from, const wire::GroupSetPage& page);
  void tick();

 private:
  void ask(PeerRef parent);
  void leave_early(PeerRef parent);
  std::vector<Id> groups_below(PeerRef parent) const;
  void doubt(PeerRef parent);
  void send_pages(PeerRef to, Side side);
  std::vector<Id> shared_groups(PeerRef peer, Side side) const;
  void settle_as_parent(PeerRef child, const wire::GroupSetPage& page);
  void settle_as_child(PeerRef parent, const wire::GroupSetPage& page);

  Core& core_;
  Tree& tree_;
  MemberCounts& counts_;
};

}  // namespace canopy::scribe
