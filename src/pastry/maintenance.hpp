// What a node does from time to time, with nobody asking: compares its leaf set
// with those of its left neighbour and of a random leaf (less often while the
// neighbour's heartbeats say that it has the same leaves), tries a departed peer
// again, and asks a random peer of each row for that row of its table, since
// who is near may have come after the row was filled (MSPastry). It asks the
// closest of each row, too: what is closest to them is so to this node, nearly.
//
// Probes entries of its routing table that have been silent for too long, how long
// the ring's size and failures tell (self_tuning.hpp).
// A part of a node.
#pragma once

#include <cstdint>

#include "pastry/measurer.hpp"
#include "pastry/node_state.hpp"
#include "pastry/prober.hpp"

namespace canopy::pastry {

class Maintenance {
 public:
  Maintenance(NodeState& state, Prober& prober, Measurer& measurer)
      : state_(state), prober_(prober), measurer_(measurer) {}

  // The node is active: the first rounds come after random parts of their
  // intervals, so that a ring started at once does not beat in time.
  void start();
  void tick();
  MonoTime deadline() const noexcept;

  // A leaf was lost: the next comparison of leaf sets comes soon. If many are, some
  // more follow, since those who are asked lack as much.
  void leaf_lost();
  // Asks a random peer and the closest of each row for their rows, now, and the
  // nearest of all for their neighbours.
  void refresh_rows();
  void ask(PeerRef peer, wire::StatePart part, unsigned row);
  bool on_state_reply(const wire::StateReply& reply);

 private:
  void compare_leaf_sets();
  void compare_soon();
  bool left_agrees() const;
  bool leaves_missing() const;
  void look_at_entries();

  NodeState& state_;
  Prober& prober_;
  Measurer& measurer_;
  MonoTime leaf_round_ = never;
  MonoTime row_round_ = never;
  unsigned leaves_lost_ = 0;  // halved with each comparison
  MonoTime entry_round_ = never;
  std::uint32_t row_nonce_ = 0;  // of the questions of the last round
};

}  // namespace canopy::pastry
