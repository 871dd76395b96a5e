// Lookups that are made all through a disaster: how many nobody answers, how many the
// wrong node does, and when the last of these was asked.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/random.hpp"
#include "sim/observer.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

class SteadyLookups final : public Observer {
 public:
  // Who ought to deliver a key that this node has asked for, now.
  using Closest = std::function<NodeIndex(const Id& key, NodeIndex origin)>;

  // The simulation must outlive it.
  SteadyLookups(Simulation& simulation, std::uint64_t seed, Closest closest);

  // Of a random key, from this node; nothing if it is the closest itself.
  void look_up(NodeIndex origin);

  struct Outcome {
    std::uint64_t lookups = 0;
    std::uint64_t lost = 0;       // not delivered although the origin waited
    std::uint64_t incorrect = 0;  // delivered by another
    Duration slowest{};           // of those that were delivered
    MonoTime last_bad{};          // when the last that was lost or incorrect was asked
  };
  // Of all so far; those whose origin has stopped, or is the closest by now, do not count.
  Outcome judge() const;

  // Observer
  void said(NodeIndex from, NodeIndex to, const wire::Message& message) override;

 private:
  struct Asked {
    Id key;
    NodeIndex origin = no_node;
    MonoTime at{};
    MonoTime delivered = never;
    bool incorrect = false;
  };

  void deliver(Asked& asked, NodeIndex node);

  Simulation& simulation_;
  Random random_;
  Closest closest_;
  std::vector<Asked> asked_;  // a lookup's nonce is its place plus one
};

}  // namespace canopy::sim
