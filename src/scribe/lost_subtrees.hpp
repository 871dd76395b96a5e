// The subtrees that a node answers for in tracked multicasts of one group,
// although it cannot reach them.
//
// A child that was lost is one, in every round, until it says that it is out of the
// tree, is a child again, or says that another parent answers for it: a parent
// does so from a round on which its JoinAck has told, so up to there it is one
// still. What a child that leaves has answered for passes to its parent.
// A root that takes over knows nothing of what the old one had: until that is
// its child, the old root's whole tree is one. All of them are forgotten after
// the expiry period.
// Bounded: what has no room is counted without a name. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

class LostSubtrees {
 public:
  static constexpr std::size_t named_max = 128;

  void lost(PeerRef child, MonoTime until);
  void moved(PeerRef child, const wire::Position& since, MonoTime until);
  // It is out of the tree.
  void settled(PeerRef child) noexcept;
  // It is answered for elsewhere, or as a child, after this round.
  void bound(PeerRef child, const wire::Position& up_to) noexcept;
  bool contains(PeerRef child, MonoTime now) const noexcept;

  // From a child that is out of the tree; none is kept beyond `until`.
  void inherit(const std::vector<wire::LostSubtree>& left, MonoTime now, MonoTime until);
  std::vector<wire::LostSubtree> legacy(MonoTime now) const;

  // Empty if nobody knows who was the root.
  void root_lost(PeerRef root, MonoTime until);
  void root_settled() noexcept;

  // Adds what is missing in this round.
  void add_to(wire::Reach& reach, const wire::Position& round, MonoTime now) const;

  // Until when there is one that nobody has heard of since; the epoch's start if there is none.
  MonoTime missing_until(MonoTime now) const noexcept;

  bool empty() const noexcept { return subtrees_.empty(); }
  void expire(MonoTime now);
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Subtree {
    PeerRef peer;
    wire::Position up_to;
    MonoTime until{};
    std::uint32_t count = 1;
    bool of_old_root = false;
  };

  Subtree* find(PeerRef child) noexcept;
  const Subtree* find(PeerRef child) const noexcept;
  void keep(const Subtree& subtree);

  std::vector<Subtree> subtrees_;
};

// Later than every round.
inline constexpr wire::Position every_round{std::numeric_limits<std::uint64_t>::max(),
                                            std::numeric_limits<std::uint64_t>::max()};

}  // namespace canopy::scribe
