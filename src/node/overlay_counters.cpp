// What a node counts, under the names that people see.
#include "node/overlay.hpp"

namespace canopy::node {
namespace {

class Names {
 public:
  void add(const char* name, std::uint64_t value) { counters_.push_back({name, value}); }
  std::vector<Counter> take() { return std::move(counters_); }

 private:
  std::vector<Counter> counters_;
};

void add_links(Names& names, const net::LinkCounters& links) {
  names.add("link.bytes_in", links.stream.bytes_in);
  names.add("link.bytes_out", links.stream.bytes_out);
  names.add("link.frames_in", links.stream.frames_in);
  names.add("link.frames_out", links.stream.frames_out);
  names.add("link.writes", links.stream.writes);
  names.add("link.established", links.established);
  names.add("link.duplicates", links.duplicates);
  names.add("link.replaced", links.replaced);
  names.add("link.lost", links.lost);
  names.add("link.stalled", links.stalled);
  names.add("link.idle_closed", links.idle_closed);
  names.add("link.dials", links.dials);
  names.add("link.dials_failed", links.dials_failed);
  names.add("link.dial_attempts", links.dial_attempts);
  names.add("link.accepted", links.accepted);
  names.add("link.accepts_refused", links.accepts_refused);
  names.add("link.accept_errors", links.accept_errors);
  names.add("link.handshakes_failed", links.handshakes_failed);
  names.add("link.rejects_sent", links.rejects_sent);
  names.add("link.rejects_received", links.rejects_received);
  names.add("link.malformed", links.stream.malformed);
  names.add("link.truncated", links.stream.truncated);
  names.add("link.unknown_messages", links.unknown);
  names.add("link.not_encodable", links.not_encodable);
  names.add("link.queued_messages", links.queued_messages);
  names.add("link.queued_bytes", links.queued_bytes);
  names.add("link.dropped_full.control", links.dropped_full.control);
  names.add("link.dropped_full.bulk", links.dropped_full.bulk);
  names.add("link.dropped_unreachable.control", links.dropped_unreachable.control);
  names.add("link.dropped_unreachable.bulk", links.dropped_unreachable.bulk);
}

void add_ring(Names& names, const pastry::Counters& ring) {
  names.add("ring.originated", ring.originated);
  names.add("ring.forwarded", ring.forwarded);
  names.add("ring.delivered", ring.delivered);
  names.add("ring.rare_case", ring.rare_case);
  names.add("ring.reroutes", ring.reroutes);
  names.add("ring.retransmissions", ring.retransmissions);
  names.add("ring.duplicate_hops", ring.duplicate_hops);
  names.add("ring.unacked_hops", ring.unacked_hops);
  names.add("ring.hop_limit_drops", ring.hop_limit_drops);
  names.add("ring.undelivered_drops", ring.undelivered_drops);
  names.add("ring.held", ring.held);
  names.add("ring.lease_waits", ring.lease_waits);
  names.add("ring.held_drops", ring.held_drops);
  names.add("ring.heartbeats_sent", ring.heartbeats_sent);
  names.add("ring.probes_sent", ring.probes_sent);
  names.add("ring.leaf_probes_sent", ring.leaf_probes_sent);
  names.add("ring.entry_probes", ring.entry_probes);
  names.add("ring.probes_delayed", ring.probes_delayed);
  names.add("ring.probe_drops", ring.probe_drops);
  names.add("ring.suspicions", ring.suspicions);
  names.add("ring.evictions", ring.evictions);
  names.add("ring.departures", ring.departures);
  names.add("ring.replaced", ring.replaced);
  names.add("ring.stale_senders", ring.stale_senders);
  names.add("ring.stalls", ring.stalls);
  names.add("ring.peers_relayed", ring.peers_relayed);
  names.add("ring.relayed", ring.relayed);
  names.add("ring.relay_drops", ring.relay_drops);
  names.add("ring.join_requests_sent", ring.join_requests_sent);
  names.add("ring.join_restarts", ring.join_restarts);
  names.add("ring.joins_helped", ring.joins_helped);
  names.add("ring.joins_queued", ring.joins_queued);
  names.add("ring.joins_deferred", ring.joins_deferred);
  names.add("ring.join_help_timeouts", ring.join_help_timeouts);
  names.add("ring.table_repairs", ring.table_repairs);
  names.add("ring.measurements", ring.measurements);
  names.add("ring.rows_announced", ring.rows_announced);
  names.add("ring.malformed", ring.malformed);
}

void add_trees(Names& names, const scribe::Counters& trees) {
  names.add("tree.joins_sent", trees.joins_sent);
  names.add("tree.joins_received", trees.joins_received);
  names.add("tree.joins_refused", trees.joins_refused);
  names.add("tree.joins_denied", trees.joins_denied);
  names.add("tree.loops_refused", trees.loops_refused);
  names.add("tree.loops_found", trees.loops_found);
  names.add("tree.leaves_sent", trees.leaves_sent);
  names.add("tree.parents_lost", trees.parents_lost);
  names.add("tree.quiet_parents_asked", trees.quiet_parents_asked);
  names.add("tree.mute_parents_left", trees.mute_parents_left);
  names.add("tree.children_expired", trees.children_expired);
  names.add("tree.children_struck", trees.children_struck);
  names.add("tree.children_dropped", trees.children_dropped);
  names.add("tree.drops_in_vain", trees.drops_in_vain);
  names.add("tree.collapses_started", trees.collapses_started);
  names.add("tree.relocations", trees.relocations);
  names.add("tree.heartbeats_sent", trees.heartbeats_sent);
  names.add("tree.heartbeats_suppressed", trees.heartbeats_suppressed);
  names.add("tree.set_mismatches", trees.set_mismatches);
  names.add("tree.set_pages_sent", trees.set_pages_sent);
  names.add("tree.publishes", trees.publishes);
  names.add("tree.publish_retries", trees.publish_retries);
  names.add("tree.publishes_forwarded", trees.publishes_forwarded);
  names.add("tree.publishes_unknown_group", trees.publishes_unknown_group);
  names.add("tree.publishes_shed", trees.publishes_shed);
  names.add("tree.publishes_denied", trees.publishes_denied);
  names.add("tree.publishes_over_rate", trees.publishes_over_rate);
  names.add("tree.multicasts_sent", trees.multicasts_sent);
  names.add("tree.multicasts_delivered", trees.multicasts_delivered);
  names.add("tree.multicasts_missed", trees.multicasts_missed);
  names.add("tree.duplicates_dropped", trees.duplicates_dropped);
  names.add("tree.strays_dropped", trees.strays_dropped);
  names.add("tree.tracked_rounds", trees.tracked_rounds);
  names.add("tree.member_words_sent", trees.member_words_sent);
  names.add("tree.member_words_again", trees.member_words_again);
  names.add("tree.member_names_dropped", trees.member_names_dropped);
  names.add("tree.last_given", trees.last_given);
  names.add("tree.last_refused", trees.last_refused);
  names.add("tree.last_dropped", trees.last_dropped);
  names.add("tree.tracked_refused", trees.tracked_refused);
  names.add("tree.tracked_repeated", trees.tracked_repeated);
  names.add("tree.tracked_given_up", trees.tracked_given_up);
  names.add("tree.order_held", trees.order_held);
  names.add("tree.order_held_drops", trees.order_held_drops);
  names.add("tree.order_old", trees.order_old);
  names.add("tree.order_unplaced", trees.order_unplaced);
  names.add("tree.order_refilled", trees.order_refilled);
  names.add("tree.order_gaps", trees.order_gaps);
  names.add("tree.order_gaps_open", trees.order_gaps_open);
  names.add("tree.order_lost", trees.order_lost);
  names.add("tree.order_overtaken", trees.order_overtaken);
  names.add("tree.refills_requested", trees.refills_requested);
  names.add("tree.refills_sent", trees.refills_sent);
  names.add("tree.publishes_early", trees.publishes_early);
  names.add("tree.children_paused", trees.children_paused);
  names.add("tree.epochs_begun", trees.epochs_begun);
  names.add("tree.anycasts_handled", trees.anycasts_handled);
  names.add("tree.anycasts_cut_short", trees.anycasts_cut_short);
  names.add("tree.anycasts_taken", trees.anycasts_taken);
  names.add("tree.anycasts_repeated", trees.anycasts_repeated);
  names.add("tree.anycasts_over_rate", trees.anycasts_over_rate);
  names.add("tree.anycasts_late", trees.anycasts_late);
  names.add("tree.changes_late", trees.changes_late);
  names.add("tree.anycasts_known", trees.anycasts_known);
  names.add("tree.requests", trees.requests);
  names.add("tree.requests_moved", trees.requests_moved);
  names.add("tree.requests_had", trees.requests_had);
  names.add("tree.requests_refused", trees.requests_refused);
  names.add("tree.requests_over", trees.requests_over);
  names.add("tree.replies_sent", trees.replies_sent);
  names.add("tree.replies_received", trees.replies_received);
  names.add("tree.replies_late", trees.replies_late);
  names.add("tree.replies_dropped", trees.replies_dropped);
  names.add("tree.roots_founded", trees.roots_founded);
  names.add("tree.takeovers", trees.takeovers);
  names.add("tree.handovers", trees.handovers);
  names.add("tree.replica_updates_sent", trees.replica_updates_sent);
  names.add("tree.replica_mismatches", trees.replica_mismatches);
  names.add("tree.roots_merged", trees.roots_merged);
  names.add("tree.root_states_lost", trees.root_states_lost);
  names.add("tree.groups_forgotten", trees.groups_forgotten);
  names.add("tree.groups_deleted", trees.groups_deleted);
  names.add("tree.changes_denied", trees.changes_denied);
  names.add("tree.access_conflicts", trees.access_conflicts);
  names.add("tree.malformed", trees.malformed);
  names.add("tree.limits_met", trees.limits_met);
  names.add("tree.child_limits_met", trees.child_limits_met);
}

}  // namespace

std::vector<Counter> Overlay::counters(const net::LinkCounters& links) const {
  Names names;
  add_links(names, links);
  add_ring(names, peer_.pastry().counters());
  add_trees(names, peer_.scribe().counters());
  names.add("node.calls_refused", mailbox_->refused());
  names.add("node.disk_failures",
            record_.failures() + groups_kept_.failures() + peers_kept_.failures());
  names.add("node.joins_over_limit", memberships_.refused());
  names.add("node.malformed_contents", memberships_.malformed());
  names.add("node.messages_lost", memberships_.lost());
  names.add("node.namesakes_dropped", namesakes_dropped_);
  names.add("node.peers_known", peers_.size());
  return names.take();
}

}  // namespace canopy::node
