// The virtual network's faults: what becomes of a message between two hosts.
//
// Decides only; Simulation carries the decision out. One Random of its own, so
// that faults do not shift the nodes' sequences. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "sim/topology.hpp"

namespace canopy::sim {

using NodeIndex = std::uint32_t;  // in the order in which nodes were added
inline constexpr NodeIndex no_node = std::numeric_limits<NodeIndex>::max();

// What may happen to any message, each with its probability (0..1).
struct LinkFaults {
  double loss = 0;
  double duplication = 0;  // arrives twice, the second time later
  double reordering = 0;   // delayed by up to reordering_max: later ones overtake
  Duration reordering_max{50'000};
  double tail = 0;  // delayed by an exponentially distributed time
  Duration tail_mean{500'000};
};

// Which way a partition cuts: `side` against all others.
enum class Cut : std::uint8_t { both_ways, from_side, to_side };

using PartitionId = std::uint32_t;

class Network {
 public:
  Network(const Topology& topology, Random random) : topology_(topology), random_(random) {}

  // --- Faults, from now on ---
  void set_faults(const LinkFaults& faults) { faults_ = faults; }
  const LinkFaults& faults() const { return faults_; }

  // Nothing crosses until heal(), but for `least` at the least.
  PartitionId partition(const std::vector<NodeIndex>& side, Cut cut, MonoTime now, Duration least);
  void heal(PartitionId id, MonoTime now);
  void heal_all(MonoTime now);
  bool cut(NodeIndex from, NodeIndex to, MonoTime now) const;

  // Nothing passes from one to the other until then.
  void sever(NodeIndex from, NodeIndex to, MonoTime until);

  // What is sent from one to the other waits until then; `no_node` for whatever is
  // sent to it. A later call replaces an earlier one.
  void clog(NodeIndex from, NodeIndex to, MonoTime until);
  // What waits, in bytes.
  std::size_t backlog(NodeIndex from, NodeIndex to, MonoTime now) const;

  // --- The fate of one message ---
  struct Fate {
    unsigned copies = 1;  // 0: lost
    Duration delay[2] = {};
  };
  Fate fate(NodeIndex from, NodeIndex to, MonoTime now, std::size_t bytes = 0);

  // Without faults.
  Duration delay(NodeIndex from, NodeIndex to) const { return topology_.delay(from, to); }
  Random& random() { return random_; }

 private:
  struct Partition {
    PartitionId id = 0;
    std::vector<bool> side;  // by node; shorter than all nodes if later ones are outside
    Cut cut = Cut::both_ways;
    MonoTime least_until;
    MonoTime healed_at = never;
  };
  struct Severed {
    NodeIndex from = 0;
    NodeIndex to = 0;
    MonoTime until;
  };
  struct Clog {
    NodeIndex from = 0;
    NodeIndex to = 0;
    MonoTime until;
    std::map<NodeIndex, std::size_t> waiting;  // bytes, by who has sent them

    bool holds_up(NodeIndex sender, NodeIndex receiver) const {
      return to == receiver && (from == sender || from == no_node);
    }
  };

  Duration faulty_delay(NodeIndex from, NodeIndex to, MonoTime now);
  Duration clogged(NodeIndex from, NodeIndex to, MonoTime now);
  void wait_at_clogs(NodeIndex from, NodeIndex to, std::size_t bytes);

  const Topology& topology_;
  Random random_;
  LinkFaults faults_;
  std::vector<Partition> partitions_;
  PartitionId next_partition_ = 1;
  std::vector<Severed> severed_;
  std::vector<Clog> clogs_;
};

}  // namespace canopy::sim
