// Parts of the ring whose owners this node has given up, but which may still act:
// until the leases that they hold have run out, nobody takes their place.
//
// The owner's lease from this node counts from before it was heard from last. One
// that was not a neighbour has its leases from others, which may have granted them
// until it fell silent: counted from this node's first probe that was not answered.
//
// Only the way between the two may be broken. Then the owner has leases from its
// neighbours of now, as this node has, and goes on acting. The one beyond the owner,
// this node's neighbour of now, knows: while that has the owner among its leaves, the
// parts that this node would take over are disputed, and wait.
// A plain value, not thread-safe. Bounded: the first to run out are forgotten first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"
#include "base/time.hpp"

namespace canopy::pastry {

class Takeovers {
 public:
  // `knows_self`: the owner has counted this node in since it got its lease. Who does not
  // takes itself for the root of this node's keys as well.
  // It may be disputed until `kept_until`, also when the lease is over.
  void add(const Id& owner, MonoTime until, bool knows_self = true,
           MonoTime kept_until = MonoTime::min());
  // The owner is back, or said goodbye.
  void remove(const Id& owner);

  // A neighbour has the owner among its leaves; until it is asked next.
  void dispute(const Id& owner, PeerRef neighbor, MonoTime until);
  // It has no others than this node. True if that ends a wait.
  bool agree(PeerRef neighbor);
  // The same, but for the owners that are among its leaves.
  template <class IsLeaf>
  bool agree(PeerRef neighbor, IsLeaf is_leaf) {
    bool any = false;
    for (Wait& wait : waiting_) {
      if (wait.disputed_by != neighbor || is_leaf(wait.owner)) continue;
      wait.disputed_by = {};
      wait.disputed_until = MonoTime::min();
      any = true;
    }
    return any;
  }

  // Whether somebody that is closer to the key than `self`, or does not know that and is
  // closer than `next`, the closest of all others, may still act for it.
  bool wait_for(const Id& key, const Id& self, const Id& next, MonoTime now) const noexcept;
  // Who says that the owner of that key still acts; empty if nobody does.
  PeerRef disputing(const Id& key, const Id& self, const Id& next, MonoTime now) const noexcept;
  bool empty() const noexcept { return waiting_.empty(); }

  // When the next of them ends.
  MonoTime deadline() const noexcept;
  // Forgets those that have ended; true if there were any.
  bool expire(MonoTime now);

 private:
  struct Wait {
    Id owner;
    MonoTime lease_until;
    bool knows_self;
    MonoTime kept_until;
    PeerRef disputed_by = {};
    MonoTime disputed_until = MonoTime::min();
    bool over = false;  // and told

    MonoTime until() const noexcept { return std::max(lease_until, disputed_until); }
  };

  const Wait* find(const Id& key, const Id& self, const Id& next, MonoTime now) const noexcept;

  std::vector<Wait> waiting_;
};

}  // namespace canopy::pastry
