// How often a node probes the entries of its routing table, as it finds out by
// itself: MSPastry's self-tuning (Castro, Costa, Rowstron, DSN 2004).
//
// A message is lost at a hop, unless that is sent again, if the next hop died
// after it was looked at last. From the number of nodes N, which the density of
// the leaf set tells, and the rate mu at which peers fail, which a node sees of its
// own, follows how often entries have to be probed for a wanted share of raw loss.
// What single nodes see differs a lot, so they tell each other, and each goes by
// the median of its own value and those of the last few that it was told.
// Functions and a plain value, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "pastry/config.hpp"
#include "pastry/leaf_set.hpp"

namespace canopy::pastry {

// Nodes of the ring as the density of the leaf set has it, the node itself included.
double estimated_nodes(const LeafSet& leaves, const Id& self);

// Hops of a route among so many nodes: (2^b - 1) / 2^b * log_{2^b} N, at least 1.
double expected_hops(double nodes, unsigned b);

// P_f(T, mu): the probability that a peer is dead that was alive when it was looked
// at last, if that is every T seconds and peers fail at mu a second.
double dead_probability(double seconds, double failures_per_second);

// L_r: the share of messages that meet a dead hop, if leaves are probed every T_ls
// as the configuration says and entries every `interval`.
double raw_loss(const Config& config, Duration interval, double hops, double failures_per_second);

// T_rt: the longest interval, in whole seconds, with which raw loss is not above
// the configuration's; within its bounds.
Duration entry_probe_interval(const Config& config, double hops, double failures_per_second);

class SelfTuning {
 public:
  explicit SelfTuning(const Config& config) : config_(config) {}

  // The node watches its peers from now on.
  void start(MonoTime now);
  // One of them has failed.
  void failed(MonoTime now);
  // Another node's own value; 0 is none.
  void told(PeerRef by, std::uint32_t seconds);

  // Looks at what has been seen since; `watched` peers are in leaf set and table.
  void update(MonoTime now, double nodes, std::size_t watched);

  // A second and peer; 0 before the first failure.
  double failure_rate(MonoTime now, std::size_t watched) const;
  // This node's own value, to tell others: 0 before it has seen any failure.
  std::uint32_t own_seconds() const noexcept { return own_seconds_; }
  // The median; the longest allowed if nobody has a value.
  Duration interval() const;

 private:
  // The peer is only compared with others: it need not live as long as this does.
  struct Told {
    PeerRef by;
    std::uint32_t seconds = 0;
  };

  const Config& config_;
  std::vector<MonoTime> failures_;  // the last few after the start, or after one more of them
  std::vector<Told> told_;          // the latest last
  std::uint32_t own_seconds_ = 0;
};

}  // namespace canopy::pastry
