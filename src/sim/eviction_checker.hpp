// Whether nodes give others up by their own probes only.
//
// A node's probes of leaf sets name whom it has given up lately. Each of these said
// goodbye to it, was replaced by a later self, or has been sent as many probes by this
// node as it takes at least to give a peer up, not long before.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <utility>

#include "pastry/config.hpp"
#include "sim/checkers.hpp"

namespace canopy::sim {

class EvictionChecker {
 public:
  // The simulation must outlive it.
  explicit EvictionChecker(const Simulation& simulation);

  // As Observer has them: probes that a node sends itself count, not those that go by others.
  void sent(NodeIndex from, NodeIndex to, const wire::Message& message);
  // What is wrong, if anything.
  Findings said(NodeIndex from, NodeIndex to, const wire::Message& message);

 private:
  using Pair = std::pair<PeerRef, PeerRef>;  // who probes or gives up, and whom

  bool given_up_rightly(const Pair& pair) const;

  const Simulation& simulation_;
  std::size_t probes_needed_;
  Duration window_;  // in which they were sent
  std::map<Pair, std::deque<MonoTime>> probes_;
  std::set<Pair> goodbyes_;
  std::set<Pair> found_;  // told once
};

}  // namespace canopy::sim
