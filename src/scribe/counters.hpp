// What a Scribe node has done and, above all, what it had to drop or refuse.
// Plain numbers that only grow.
#pragma once

#include <cstdint>

namespace canopy::scribe {

struct Counters {
  // Trees
  std::uint64_t joins_sent = 0;  // retries and re-JOINs included
  std::uint64_t joins_received = 0;
  std::uint64_t joins_refused = 0;  // name conflict or limit
  std::uint64_t joins_denied = 0;   // and children that are not to be any more: no right
  std::uint64_t loops_refused = 0;  // JOINs from a node on the own root path
  std::uint64_t loops_found = 0;    // this node saw itself in its root path
  std::uint64_t leaves_sent = 0;
  std::uint64_t parents_lost = 0;         // silent or failed, per group
  std::uint64_t quiet_parents_asked = 0;  // traffic from them had stopped
  std::uint64_t mute_parents_left = 0;    // had not answered, per group
  std::uint64_t children_expired = 0;
  std::uint64_t children_struck = 0;    // by failure or repair
  std::uint64_t children_dropped = 0;   // told to move below a sibling
  std::uint64_t drops_in_vain = 0;      // of these, still children after a while
  std::uint64_t collapses_started = 0;  // an only child told to move up
  std::uint64_t relocations = 0;        // of this node, to another parent at its parent's wish

  // Heartbeats
  std::uint64_t heartbeats_sent = 0;
  std::uint64_t heartbeats_suppressed = 0;  // a multicast did their work
  std::uint64_t set_mismatches = 0;         // that lasted and started an exchange
  std::uint64_t set_pages_sent = 0;

  // Messages
  std::uint64_t publishes = 0;  // by this node
  std::uint64_t publish_retries = 0;
  std::uint64_t publishes_forwarded = 0;      // arrived here by a stale cache
  std::uint64_t publishes_unknown_group = 0;  // at the root, for a group nobody knows
  std::uint64_t publishes_shed = 0;           // while a root was found: no room, or too old
  std::uint64_t publishes_denied = 0;         // at the root, and anycasts: no right
  std::uint64_t publishes_over_rate = 0;      // at the root, by a publisher that is too fast
  std::uint64_t multicasts_sent = 0;          // copies to children
  std::uint64_t multicasts_delivered = 0;     // to the own member
  std::uint64_t multicasts_missed = 0;        // by it, in best-effort groups
  std::uint64_t duplicates_dropped = 0;
  std::uint64_t strays_dropped = 0;  // multicasts from a peer that is not the parent
  std::uint64_t anycasts_handled = 0;
  std::uint64_t anycasts_cut_short = 0;  // the search met its bound
  std::uint64_t anycasts_taken = 0;      // by the own member
  std::uint64_t anycasts_repeated = 0;   // searches begun again by this node
  std::uint64_t anycasts_over_rate = 0;  // entered the tree here, from a peer that is too fast
  std::uint64_t anycasts_late = 0;       // nobody waits for them any more: dropped
  std::uint64_t changes_late = 0;        // likewise, of creates and changes of groups
  std::uint64_t anycasts_known = 0;      // came again to the member that had taken them

  // Requests
  std::uint64_t requests = 0;          // by this node
  std::uint64_t requests_moved = 0;    // of these, on to another member
  std::uint64_t requests_had = 0;      // of others, that are to be replied to here
  std::uint64_t requests_refused = 0;  // of these, for want of room
  std::uint64_t requests_over = 0;     // of these, before all was replied
  std::uint64_t replies_sent = 0;      // declining ones included
  std::uint64_t replies_received = 0;
  std::uint64_t replies_late = 0;     // nobody waited any more
  std::uint64_t replies_dropped = 0;  // for want of room

  // Members
  std::uint64_t member_words_sent = 0;     // to parents, of a group each
  std::uint64_t member_words_again = 0;    // of these, as the two ends differed
  std::uint64_t member_names_dropped = 0;  // of who came or went: no room for them
  std::uint64_t last_given = 0;            // latest messages, to others
  std::uint64_t last_refused = 0;          // from children, ahead of what the root has sent
  std::uint64_t last_dropped = 0;          // the same, no longer kept for want of room

  // Tracked multicasts
  std::uint64_t tracked_rounds = 0;    // that this node has taken part in
  std::uint64_t tracked_refused = 0;   // no room: told so
  std::uint64_t tracked_repeated = 0;  // copies to silent children
  std::uint64_t tracked_given_up = 0;  // children, of rounds

  // Ordered groups
  std::uint64_t order_held = 0;         // came too early, and waited for those before
  std::uint64_t order_held_drops = 0;   // no room to wait
  std::uint64_t order_old = 0;          // had come before
  std::uint64_t order_unplaced = 0;     // before it was known from where on to count
  std::uint64_t order_refilled = 0;     // holes that others filled
  std::uint64_t order_gaps = 0;         // that nobody filled
  std::uint64_t order_gaps_open = 0;    // of these, with no known end: it lacks some, or none
  std::uint64_t order_lost = 0;         // messages in the others
  std::uint64_t order_overtaken = 0;    // of these, that came behind a later one of its publisher
  std::uint64_t refills_requested = 0;  // by this node
  std::uint64_t refills_sent = 0;       // items given to others again
  std::uint64_t publishes_early = 0;    // overtook an earlier one of their publisher
  std::uint64_t children_paused = 0;    // as what was sent to them had not left
  std::uint64_t epochs_begun = 0;

  // Roots
  std::uint64_t roots_founded = 0;
  std::uint64_t takeovers = 0;
  std::uint64_t handovers = 0;  // root states given to a closer peer
  std::uint64_t replica_updates_sent = 0;
  std::uint64_t replica_mismatches = 0;  // holders that did not keep what they were taken to
  std::uint64_t roots_merged = 0;        // times another root, of the same group, became this one
  std::uint64_t root_states_lost = 0;    // times something that one of two roots had is not kept
  std::uint64_t groups_forgotten = 0;    // empty, and never created by name
  std::uint64_t groups_deleted = 0;      // that this node was the root of
  std::uint64_t changes_denied = 0;      // creates, deletes and changes of access lists: no right
  std::uint64_t access_conflicts = 0;    // lists that were changed apart: the stricter is kept

  // Outside input that made no sense or met a limit
  std::uint64_t malformed = 0;
  std::uint64_t limits_met = 0;
  std::uint64_t child_limits_met = 0;  // JOINs of peers that have too many entries here
};

}  // namespace canopy::scribe
