// What a Pastry node has done and, above all, what it had to drop.
// Plain numbers that only grow.
#pragma once

#include <cstdint>

namespace canopy::pastry {

struct Counters {
  // Routing
  std::uint64_t originated = 0;       // messages routed from here
  std::uint64_t forwarded = 0;        // passed on for others
  std::uint64_t delivered = 0;        // this node was their root
  std::uint64_t rare_case = 0;        // hops found by neither leaf set nor table entry
  std::uint64_t reroutes = 0;         // sent again, around a silent hop
  std::uint64_t retransmissions = 0;  // sent again to the same hop
  std::uint64_t duplicate_hops = 0;   // the same hop received again, acked again
  std::uint64_t unacked_hops = 0;     // sent without asking for an ack: the table was full
  std::uint64_t hop_limit_drops = 0;
  std::uint64_t undelivered_drops = 0;  // too many silent hops, or nobody left to go to
  std::uint64_t held = 0;               // waited here for activation or a lease
  std::uint64_t lease_waits = 0;        // of these, for a lease; again each time it is looked at
  std::uint64_t held_drops = 0;         // no room to wait

  // Failure detection
  std::uint64_t heartbeats_sent = 0;
  std::uint64_t probes_sent = 0;
  std::uint64_t leaf_probes_sent = 0;  // answers not included
  std::uint64_t entry_probes = 0;      // of table entries that were silent for long
  std::uint64_t probes_delayed = 0;    // until the node might send one again
  std::uint64_t probe_drops = 0;       // probes and measurements not made: too many wait
  std::uint64_t suspicions = 0;
  std::uint64_t evictions = 0;   // own probes failed
  std::uint64_t departures = 0;  // peers that said goodbye
  std::uint64_t replaced = 0;    // old selves of peers that restarted
  std::uint64_t stale_senders = 0;
  std::uint64_t stalls = 0;         // times this process found itself late
  std::uint64_t peers_relayed = 0;  // neighbours found out of reach, but alive
  std::uint64_t relayed = 0;        // messages sent on between peers that do not reach each other
  std::uint64_t relay_drops = 0;    // of these, with no way on

  // Joining and helping
  std::uint64_t join_requests_sent = 0;
  std::uint64_t join_restarts = 0;
  std::uint64_t joins_helped = 0;
  std::uint64_t joins_queued = 0;
  std::uint64_t joins_deferred = 0;
  std::uint64_t join_help_timeouts = 0;

  // Maintenance
  std::uint64_t table_repairs = 0;
  std::uint64_t measurements = 0;  // round trips measured to choose entries
  std::uint64_t rows_announced = 0;
  std::uint64_t malformed = 0;  // messages whose fields made no sense
};

}  // namespace canopy::pastry
