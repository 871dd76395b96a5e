// Lookups of a fuzz run, which are to find no key that two nodes answer for.
//
// Keys lie where nodes have stopped, hang, or have just come. When a node delivers
// one, no other that runs may take itself for the key's root and hold the leases to
// act as such, whoever has given up whom.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

class FuzzLookups {
 public:
  // The simulation must outlive it. `find` is called with each finding.
  FuzzLookups(Simulation& simulation, std::uint64_t seed, std::function<void(std::string)> find);

  // Some keys near the nodes of the ring, from some nodes that are active.
  void look_up(std::size_t nodes);
  // A clock jumps, or the ring is parted and each part goes on: two may answer for a
  // key until then.
  void pardon_until(MonoTime time) { pardoned_until_ = std::max(pardoned_until_, time); }

  // --- As Observer has it ---
  void said(NodeIndex from, const wire::Message& message);

 private:
  void judge(NodeIndex node, const Id& key);
  bool runs(NodeIndex node) const;
  bool acts_for(NodeIndex node, const Id& key);

  Simulation& simulation_;
  std::function<void(std::string)> find_;
  Random random_;         // of its own: the rest of the run stays as it is
  std::vector<Id> keys_;  // a lookup's nonce is its place plus one
  MonoTime pardoned_until_{};
};

}  // namespace canopy::sim
