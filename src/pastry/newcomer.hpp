// How a node that has just become active completes its tables: it measures all
// whom its join named, then asks the closest peers of each row for that row
// (Castro, Druschel, Hu, Rowstron, "Exploiting network proximity", 2002).
//
// The search for a near contact may have ended far from the nearest peer: where
// many peers share a site, those at a wrong site know each other alone, and
// asking whoever is nearest leads no farther. So between the two the nearest are
// asked for their neighbours once more: they have been told of their distances by
// now, and name others that are about as far from them as this node is
// (NodeState::neighbors_for). One of those lives at the right site, most likely;
// whoever turns out to be among the nearest is asked in turn.
// A part of a node; lives until that is done.
#pragma once

#include <cstdint>
#include <vector>

#include "pastry/measurer.hpp"
#include "pastry/node_state.hpp"
#include "pastry/prober.hpp"

namespace canopy::pastry {

class Newcomer {
 public:
  // `near_us` is the distance of the contact that the node joined through.
  Newcomer(NodeState& state, Prober& prober, Measurer& measurer, std::uint32_t near_us)
      : state_(state), prober_(prober), measurer_(measurer), near_us_(near_us) {}

  // Takes the next step if the one before is over; true if none is left.
  bool advance();
  // Whether the message answers one of the questions.
  bool on_state_reply(const wire::StateReply& reply);
  // When the answers that are out are not waited for any longer.
  MonoTime deadline() const noexcept { return deadline_; }

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  bool measuring() const;
  bool asked(PeerRef peer) const;
  void begin_questions();
  void end_questions();
  void ask(PeerRef peer, wire::StatePart part, unsigned row = 0);
  void ask_nearest();
  void ask_rows();

  NodeState& state_;
  Prober& prober_;
  Measurer& measurer_;
  std::uint32_t near_us_;               // of the nearest so far whose row was asked for
  std::vector<PeerRef> nearest_asked_;  // for their neighbours
  bool rows_asked_ = false;
  std::uint32_t nonce_ = 0;  // of the questions that are out
  unsigned answers_due_ = 0;
  MonoTime deadline_ = never;
};

}  // namespace canopy::pastry
