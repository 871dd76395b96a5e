// What to do when a second link of a peer has said Hello. Pure; both ends come
// to the same result from what each of them knows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"
#include "base/time.hpp"

namespace canopy::net {

enum class Verdict {
  replace_dead,  // the peer has started anew: the old link is dead
  replace,       // the new link stays; the old one is read to its end
  keep,          // the old link stays; the new one is read to its end
  keep_both,     // both were dialled by the other side, which will close one
  ask_old,       // two processes claim the id: does the old one still answer?
  refuse_stale,  // the new link comes from before the peer's last start
};

struct LinkFacts {
  const PeerDescriptor* peer = nullptr;
  bool dialled = false;  // by this side
};

// `old_age`: of the old link since it was agreed; `overlap_max`: how long two
// dials that cross can take.
Verdict judge(const Id& self, const LinkFacts& old_link, Duration old_age,
              const LinkFacts& new_link, Duration overlap_max);

// Of links that cross, the one that the smaller id dialled survives.
inline bool own_dial_survives(const Id& self, const Id& peer) { return self < peer; }

}  // namespace canopy::net
