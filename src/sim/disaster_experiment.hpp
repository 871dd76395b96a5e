// A large ring to which something happens at once, watched until it has come right:
// who answers for which key, whether leaf sets and trees are those of whoever lives,
// what becomes of lookups and of messages to groups, and what mending costs.
//
// The ring grows by the join protocol. What has stopped does not refuse messages, as
// machines that are off. Looks at the ring every tenth of a second (LAN) or every
// second (WAN), at trees every second: figures are the first look from which on all
// was well.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/checkers.hpp"
#include "sim/deliverers.hpp"
#include "sim/disaster_ground.hpp"
#include "sim/disaster_groups.hpp"
#include "sim/progress.hpp"
#include "sim/simulation.hpp"
#include "sim/steady_lookups.hpp"
#include "sim/storm_meter.hpp"

namespace canopy::sim {

enum class Disaster : std::uint8_t {
  half,       // of all nodes die at once
  neighbors,  // |L|/2 - 1 that are next to each other die at once
  zone,       // all nodes of a tenth of the network die at once
  partition,  // the network parts them into 60 and 40 of a hundred, and heals
  strangers,  // two rings that have never met, 60 and 40 of a hundred: one has a seed in the other
  flash_crowd,  // as many as there are join within a minute
  stuck,        // one node hangs, and comes back
  calm,         // nothing, for as long: what a hang costs is the difference
};

// Whether it lasts for a time; others happen at once, or take as long as they take.
constexpr bool has_span(Disaster disaster) noexcept {
  return disaster == Disaster::partition || disaster == Disaster::stuck ||
         disaster == Disaster::calm;
}

struct DisasterOptions {
  Disaster disaster = Disaster::half;
  std::size_t nodes = 1'000;
  bool wan = false;
  std::size_t groups = 100;          // of twenty members each; every other one is ordered
  Duration span = Duration::zero();  // of a partition or a hang; zero: ten minutes, an hour
  std::uint64_t seed = 1;
  bool encode = false;
  std::ostream* trace = nullptr;
  // The bytes that this process has in use, to be told if they grow; 0: not known.
  std::function<std::uint64_t()> memory = [] { return std::uint64_t{0}; };
};

struct DisasterResults {
  std::size_t nodes_before = 0;
  std::size_t nodes_after = 0;
  // Since the disaster, or since the network healed: from when on all was well to the
  // end of the watch. Nothing: not by then.
  std::optional<Duration> leaf_sets;  // exact
  std::optional<Duration> keys;       // each has one deliverer
  std::optional<Duration> members;    // one root a group, all members can be reached
  std::optional<Duration> trees;      // nor is anybody in them who need not be
  std::string trees_before;           // what was wrong with them last
  Duration watched{};
  SteadyLookups::Outcome lookups;
  std::optional<Duration> lookups_bad_until;  // the last lost or wrong one was asked then
  std::optional<bool> sides_consistent;       // of a partition, at its end
  StormMeter::Peak probes;                    // a second, of one node and of all together
  StormMeter::Peak messages;
  std::uint64_t probes_before = 0;  // of all, in the worst second before the disaster
  std::uint64_t messages_before = 0;
  DisasterGroups::Reach last;  // of a last message to each group
  std::uint64_t gaps_told = 0;
  std::uint64_t access_conflicts = 0;
  std::uint64_t evictions = 0;
  std::uint64_t memory_before = 0;  // bytes, at the most
  std::uint64_t memory_during = 0;
  Findings findings;  // what is wrong at the end, or was with the order of messages

  bool whole() const { return leaf_sets && keys && members && trees && findings.empty(); }
};

class DisasterExperiment {
 public:
  DisasterExperiment(const DisasterOptions& options, Progress progress);
  ~DisasterExperiment();

  // Once.
  DisasterResults run();
  Simulation& simulation() { return *simulation_; }

 private:
  SimulationConfig config() const;
  Duration span() const;

  void add_node();
  void grow();
  void join_crowd(std::size_t nodes, Duration within);
  NodeIndex contact_for(NodeIndex node);
  void settle();
  void make_groups();

  void strike();
  std::vector<NodeIndex> chosen() const;
  void pass_parted();
  bool each_side_whole();
  void meet_strangers();
  void pass(Duration time, std::string_view what);
  void watch(Duration time);
  bool leaf_sets_exact(const RingOrder& ring) const;
  bool keys_served(const RingOrder& ring);
  void tick();
  void note_memory();

  RingOrder live() const;
  RingOrder side(bool second) const;
  NodeIndex closest(const Id& key, NodeIndex origin) const;
  void count_counters();

  DisasterOptions options_;
  Progress progress_;
  Random random_;
  std::unique_ptr<DisasterGround> ground_;
  std::unique_ptr<Simulation> simulation_;
  StormMeter storm_;
  SteadyLookups lookups_;
  DisasterGroups groups_;
  std::vector<bool> second_side_;  // by node: of a partition, or of two rings
  bool parted_ = false;
  bool lookups_on_ = false;
  bool publishing_ = false;
  MonoTime next_meeting_ = never;
  Duration step_;
  DisasterResults results_;
};

}  // namespace canopy::sim
