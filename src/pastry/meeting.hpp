// The way from any peer to the one that is closest to this node in the ring which
// that peer is in: from row to row of routing tables and then from leaf set to leaf
// set, always to whoever named is closer (Pastry's route, walked by the asker).
//
// If that is another ring than this node's, the two closest compare leaf sets, which
// is how rings of one cluster that were parted, or never met, become one. If it is
// this node's own ring, the walk ends at a leaf and nothing happens. Routing would not
// do for that: where tables have entries of both rings already, it leads back here.
// One walk at a time. Who stays silent is no dead end: whoever named that one is asked for
// others. A part of a node.
#pragma once

#include <cstdint>
#include <vector>

#include "pastry/node_state.hpp"
#include "pastry/prober.hpp"

namespace canopy::pastry {

class Meeting {
 public:
  Meeting(NodeState& state, Prober& prober) : state_(state), prober_(prober) {}

  // Nothing if a walk is under way.
  void start(PeerRef from);
  bool on_state_reply(PeerRef from, const wire::StateReply& reply);
  void tick();
  void clear() noexcept;
  MonoTime deadline() const noexcept { return deadline_; }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  void go_on();
  void ask();
  void step_back();
  PeerRef closest_of(const wire::Peers& peers) const;

  NodeState& state_;
  Prober& prober_;
  PeerRef near_;                 // the closest so far, which is asked; empty if there is no walk
  std::vector<PeerRef> way_;     // who was asked before, each of whom named the next
  std::vector<PeerRef> silent_;  // who were asked in vain
  bool by_rows_ = true;
  unsigned asked_ = 0;  // peers, or one of them a second time
  unsigned tries_ = 0;  // of the question that is out
  std::uint32_t nonce_ = 0;
  MonoTime deadline_ = never;
};

}  // namespace canopy::pastry
