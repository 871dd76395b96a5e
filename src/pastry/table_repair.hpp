// Fills holes that failed peers left in the routing table: asks peers of the
// same row for their entry at the hole, then peers of the next row, who know
// that row as well (Rowstron and Druschel 2001, section 2.4). What they name is
// measured before it is let in. Bounded in holes at once and in questions.
// A part of a node.
#pragma once

#include <cstdint>
#include <vector>

#include "pastry/measurer.hpp"
#include "pastry/node_state.hpp"

namespace canopy::pastry {

class TableRepair {
 public:
  TableRepair(NodeState& state, Measurer& measurer) : state_(state), measurer_(measurer) {}

  void start(RoutingTable::Slot slot);
  // Whether the message answers one of the questions.
  bool on_state_reply(PeerRef from, const wire::StateReply& reply);
  void tick();
  MonoTime deadline() const noexcept { return deadline_; }
  void clear() noexcept;

 private:
  struct Hole {
    RoutingTable::Slot slot;
    std::uint8_t asked = 0;
    std::uint32_t nonce = 0;
    MonoTime deadline;
  };

  // Asks the next peer; false if there is nobody left to ask.
  bool ask(Hole& hole);
  PeerRef whom_to_ask(const Hole& hole) const;
  void settle_deadline() noexcept;

  NodeState& state_;
  Measurer& measurer_;
  std::vector<Hole> holes_;
  MonoTime deadline_ = never;
};

}  // namespace canopy::pastry
