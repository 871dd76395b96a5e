// Scribe's bottleneck remover (JSAC 2002, section 4.4): a node with more children
// than it is to have, over all its groups, takes the group in which it has most
// of them and drops the child that is farthest, which moves below a sibling
// (relocations.hpp).
//
// It looks once a while, after the tree has had time to settle, and drops a few
// at a time; those that do not go are left alone for a while, and a node that
// gets rid of nobody asks less and less often. Who is asked to take the child
// decides by its own load (Tree::on_direct_join): so the load spreads where it
// can, moves come to an end, and nodes that all have too many let each other be.
// JOINs that come by the usual way are never refused for it.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scribe/core.hpp"

namespace canopy::scribe {

class BottleneckRemover {
 public:
  explicit BottleneckRemover(Core& core) : core_(core), pause_(core.config.heartbeat_interval) {}

  // The protocol is at rest: begins if there is reason to. Cheap.
  void watch();
  void measured(PeerRef peer, Duration round_trip);
  void tick();
  MonoTime next_deadline() const { return look_at_; }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  using Place = std::pair<Id, PeerRef>;  // of a child in a group
  struct Load {
    std::size_t children = 0;
    Id group;
    friend auto operator<=>(const Load&, const Load&) = default;
  };

  std::size_t excess() const;
  std::size_t drops_now() const;
  bool overloaded() const;
  bool is_child(const Place& place) const;
  void review_drops();
  void relieve();
  std::vector<Load> groups_by_load() const;
  bool drop_from(const Id& id);
  std::optional<PeerRef> farthest_child(const Id& id, const Group& group);
  wire::Relocation relocation(const Id& id, const Group& group, PeerRef child);
  bool on_its_way(const Id& id, PeerRef child) const { return dropped_.contains({id, child}); }
  void rest();

  Core& core_;
  MonoTime look_at_ = never;
  Duration pause_;
  std::map<Place, MonoTime> dropped_;                // until then they may be on their way
  std::map<Place, MonoTime> stayed_;                 // children that did not go: found then
  std::map<PeerRef, std::uint32_t> round_trips_us_;  // 0: asked for
  std::size_t measurements_ = 0;                     // begun in this round
  unsigned rounds_ = 0;                              // since there are too many
};

}  // namespace canopy::scribe
