// Parts of the ring whose owners this node has given up, but which may still act:
// until the leases that they hold have run out, nobody takes their place.
//
// The owner's lease from this node counts from before it was heard from last. One
// that was no neighbour yet when it fell silent has its leases from others, which may
// have granted them until then: that is, before the probes that it left unanswered.
// A plain value, not thread-safe. Bounded: the first to run out are forgotten first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/id.hpp"
#include "base/time.hpp"

namespace canopy::pastry {

class Takeovers {
 public:
  // `knows_self`: the owner has counted this node in since it got its lease. Who does not
  // takes itself for the root of this node's keys as well.
  void add(const Id& owner, MonoTime until, bool knows_self = true);
  // The owner is back, or said goodbye.
  void remove(const Id& owner);

  // Whether somebody that is closer to the key than `self`, or does not know that and is
  // closer than `next`, the closest of all others, may still act for it.
  bool wait_for(const Id& key, const Id& self, const Id& next, MonoTime now) const noexcept;
  bool empty() const noexcept { return waiting_.empty(); }

  // When the next of them ends.
  MonoTime deadline() const noexcept;
  // Forgets those that have ended; true if there were any.
  bool expire(MonoTime now);

 private:
  struct Wait {
    Id owner;
    MonoTime until;
    bool knows_self;
  };

  std::vector<Wait> waiting_;
};

}  // namespace canopy::pastry
