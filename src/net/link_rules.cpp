#include "net/link_rules.hpp"

namespace canopy::net {

Verdict judge(const Id& self, const LinkFacts& old_link, Duration old_age,
              const LinkFacts& new_link, Duration overlap_max) {
  const PeerDescriptor& before = *old_link.peer;
  const PeerDescriptor& now = *new_link.peer;
  if (before.addresses != now.addresses) return Verdict::ask_old;
  if (before.incarnation < now.incarnation) return Verdict::replace_dead;
  if (before.incarnation > now.incarnation) return Verdict::refuse_stale;
  // One process that dials twice knows itself which of the two it wants; until
  // it has closed one, the newer is the one that it surely has.
  if (old_link.dialled == new_link.dialled)
    return new_link.dialled ? Verdict::keep : Verdict::keep_both;
  // Too old to have crossed the new one: whoever dialled has lost it.
  if (old_age >= overlap_max) return Verdict::replace;
  const bool new_survives = new_link.dialled == own_dial_survives(self, now.id);
  return new_survives ? Verdict::replace : Verdict::keep;
}

}  // namespace canopy::net
