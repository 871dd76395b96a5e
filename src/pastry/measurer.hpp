// Peers heard of that might be closer than those in the table, waiting for
// their round trip to be measured.
//
// A few probes at a time, so that a node that has just joined does not dial a
// hundred peers at once. Bounded; what finds no room is forgotten and counted,
// and will be heard of again.
// A part of a node.
#pragma once

#include <vector>

#include "pastry/node_state.hpp"
#include "pastry/prober.hpp"

namespace canopy::pastry {

class Measurer {
 public:
  Measurer(NodeState& state, Prober& prober) : state_(state), prober_(prober) {}

  // Queues a peer; one whose distance is known is offered to the table at once.
  // False for peers that are not worth it: this node, and the dead.
  bool add(PeerRef peer);
  // Sends what may be sent now.
  void advance();
  bool idle() const noexcept { return waiting_.empty(); }
  void clear() noexcept { waiting_.clear(); }

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  NodeState& state_;
  Prober& prober_;
  std::vector<PeerRef> waiting_;  // the next one last
};

}  // namespace canopy::pastry
