// The constants of a Scribe node.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/time.hpp"
#include "wire/access.hpp"

namespace canopy::scribe {

using namespace std::chrono_literals;

struct Config {
  // Off: no heartbeat, expiry, replication refresh or re-JOIN starts by itself
  // (worked examples).
  bool maintenance = true;

  Duration heartbeat_interval = 1s;  // parent to child, per neighbour
  unsigned heartbeats_missed = 2;    // then the parent is lost
  Duration child_refresh_interval = 30s;
  Duration child_expiry = 60s;
  Duration join_retry_interval = 1s;  // while a JOIN has no JoinAck
  Duration join_retry_max = 8s;       // the backoff's ceiling
  Duration join_timeout = 30s;        // then a user's join has failed
  Duration request_timeout = 5s;      // publish with ack, anycast
  // Look at, create, change or delete a group: time for its root to be replaced.
  Duration change_timeout = 10s;
  Duration request_retry_interval = 1s;
  Duration departure_timeout = 2s;  // how long children may take to move

  // Whether a node that is no member and has one child leaves the way to it.
  bool path_collapse = true;

  unsigned root_replicas = 5;            // k: peers that hold the root state, root included
  Duration root_search_timeout = 500ms;  // a new root asks the others what they know
  Duration empty_group_expiry = 10min;   // of groups that only JOINs had founded

  std::uint32_t groups_max = 100'000;   // of which this node may be in the tree
  std::uint32_t children_max = 65'536;  // per group
  // Over all groups; a node with more relieves itself of some. 0: it does not.
  std::uint32_t children_entries_max = 64;
  std::uint32_t pending_publishes_max = 4096;  // awaiting an ack
  std::uint32_t root_cache_max = 1024;         // groups whose root's address is cached
  std::uint32_t duplicate_window = 1024;       // message ids remembered at a root, per group
  std::uint32_t tree_duplicate_window = 128;   // the same at every other node of a tree
  std::uint32_t held_publishes_max = 1024;     // at a root that is asking around
  std::size_t held_bytes_max = std::size_t{32} << 20;     // of these together
  std::size_t pending_bytes_max = std::size_t{64} << 20;  // of those that await an ack
  std::uint32_t anycast_visits_max = 256;                 // nodes that one search may see
  std::uint32_t anycast_window = 16'384;                  // ids of those taken, remembered
  std::uint32_t root_path_max = 64;                       // nearest ancestors that a path tells

  // Ordered groups. The history outlasts twice the time in which a tree mends,
  // and giving up takes longer than that.
  Duration history_age_max = 30s;
  Duration refill_timeout = 10s;      // without progress: what is missing is lost
  Duration root_refill_timeout = 2s;  // the same at a root, where all wait for it
  std::size_t history_bytes_max = std::size_t{16} << 20;       // per group
  std::size_t history_node_bytes_max = std::size_t{64} << 20;  // of all groups
  std::uint32_t held_items_max = 65'536;                       // that came too early, of all groups
  std::size_t held_items_bytes_max = std::size_t{32} << 20;
  std::uint32_t ordered_duplicate_window = 16'384;  // message ids remembered, per group
  // A child for whom more than this waits is paused: it gets no more than it takes, from
  // the history, or is told what has left that. In bytes.
  std::size_t child_backlog_max = std::size_t{2} << 20;

  // Requests.
  Duration reply_timeout = 10s;         // unless the asker says another
  std::uint32_t requests_max = 16'384;  // of this node that wait; the same of others, had here
  std::size_t requests_bytes_max = std::size_t{64} << 20;  // kept of them; the same of replies

  // Tracked multicasts.
  Duration tracked_timeout = 10s;  // unless the publisher says another; child_expiry at the most
  std::uint32_t tracked_rounds_max = 4096;                // remembered until their time is up
  std::size_t tracked_bytes_max = std::size_t{64} << 20;  // kept to be sent again

  // The latest message of each group, for those who join.
  std::size_t last_bytes_max = std::size_t{32} << 20;  // of all groups
  Duration last_timeout = 5s;                          // for an answer

  std::size_t body_max = (1U << 20) + (1U << 16);  // encoded content, bytes

  // Access. Null: whoever likes may create groups, and a JOIN founds one that nobody
  // knows. Otherwise groups are those that were created.
  std::shared_ptr<const wire::Grant> creators = {};
  Duration deletion_memory = 7 * 24h;  // so long a deleted group is known to be
  bool keeps_states = false;           // the host has a disk for them: Events::keep_state
  // Of one peer. 0: any number.
  std::uint32_t child_entries_max = 65'536;  // groups in which it may be this node's child
  // A second, at this root; and anycasts, requests included, that enter trees here.
  std::uint32_t publish_messages_max = 0;
  std::uint64_t publish_bytes_max = 0;

  static Config lan() { return {}; }
  static Config wan();
};

}  // namespace canopy::scribe
