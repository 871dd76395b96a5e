// The constants of a Pastry node. id_bits, b and |L| are the cluster's and must
// agree between peers; the rest is each node's own affair.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.hpp"

namespace canopy::pastry {

using namespace std::chrono_literals;

struct Config {
  unsigned id_bits = 160;           // a multiple of b
  unsigned b = 4;                   // bits per digit, 1..8
  unsigned leaf_set_size = 16;      // |L|, even: half on each side
  unsigned neighborhood_size = 32;  // |M|

  // Off: no heartbeat, probe, repair or refresh starts by itself and hops are
  // not acknowledged, so a quiet network stays quiet (worked examples).
  bool maintenance = true;

  Duration heartbeat_interval = 1s;  // T_ls, to a neighbour; the answer is a lease
  Duration lease = 2s;  // granted; longer than T_ls and an answer that has to be asked for again
  Duration probe_timeout = 500ms;  // T_o
  unsigned probe_retries = 2;
  std::uint32_t probes_per_second = 64;    // that a node sends, repeats included; others wait
  std::uint32_t probes_waiting_max = 512;  // for that; least important ones are forgotten
  Duration hop_ack_timeout_min = 50ms;     // floor and ceiling of the per-hop
  Duration hop_ack_timeout_max = 500ms;    // retransmission time
  Duration hop_patience = 10s;             // then one node has tried for long enough
  Duration leaf_maintenance_interval = 60s;
  Duration row_maintenance_interval = 20min;
  double raw_loss_max = 0.05;     // L_r: share of messages that may meet a dead hop
  Duration entry_probe_min = 9s;  // bounds of T_rt, between probes of a table's entry
  Duration entry_probe_max = 1h;
  Duration join_retry_interval = 2s;
  Duration near_enough = 10ms;      // a contact this close spares the search for a closer one
  Duration join_help_timeout = 5s;  // how long one joiner may hold its helper

  std::uint8_t hop_limit = 64;
  std::uint32_t pending_acks_max = 4096;               // routed messages that await a hop ack
  std::uint32_t held_messages_max = 1024;              // at an inactive root
  std::size_t held_bytes_max = std::size_t{32} << 20;  // of these together
  std::size_t pending_ack_bytes_max = std::size_t{64} << 20;  // of those that await a hop ack
  std::uint32_t join_queue_max = 64;                          // joiners that wait for this helper
  std::uint32_t departed_max = 20;                            // peers remembered after they failed
  Duration departed_memory = 90min;
  std::uint32_t measurements_max = 256;     // peers that wait for their round trip to be measured
  std::uint32_t measurements_at_once = 16;  // of which under way
  std::size_t walk_peers_max = 100'000;     // that one walk around the ring may find

  static Config lan() { return {}; }
  static Config wan();
};

}  // namespace canopy::pastry
