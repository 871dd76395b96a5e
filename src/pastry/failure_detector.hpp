// Heartbeats around the ring, as in MSPastry: each node tells its left
// neighbour every T_ls that it lives, unless it said anything else to it
// meanwhile, and watches its right neighbour in turn. Silence for T_ls + T_o
// makes that one a suspect; what comes of it is the probes' business.
//
// Leases will ride on these heartbeats: who is told here grants one by its ack.
// A part of a node.
#pragma once

#include "pastry/node_state.hpp"
#include "pastry/prober.hpp"

namespace canopy::pastry {

class FailureDetector {
 public:
  FailureDetector(NodeState& state, Prober& prober) : state_(state), prober_(prober) {}

  // Sends a heartbeat and suspects the right neighbour if it is time.
  void tick();
  MonoTime deadline() const;
  // This process slept: the right neighbour may have spoken in vain.
  void start_over();

 private:
  MonoTime heartbeat_due() const;
  MonoTime suspicion_due() const;

  NodeState& state_;
  Prober& prober_;
};

}  // namespace canopy::pastry
