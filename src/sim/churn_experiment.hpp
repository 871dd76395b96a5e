// A ring in which nodes come and go all the time, as MSPastry was measured
// (Castro, Costa, Rowstron, DSN 2004): what lookups it loses, which are delivered
// by the wrong node, and what its upkeep costs.
//
// Nodes arrive as a Poisson process and stay for an exponentially distributed
// time, so that there are about as many all the time; none says goodbye, and what
// is sent to the dead vanishes. Each comes once, with an id and a host of its
// own, by the join protocol through a random active node. Lookups of random keys
// start at random active nodes. WAN profile, on a transit-stub internet.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <queue>
#include <string_view>
#include <vector>

#include "sim/live_ring.hpp"
#include "sim/observer.hpp"
#include "sim/progress.hpp"
#include "sim/ring_experiment.hpp"

namespace canopy::sim {

struct ChurnOptions {
  std::size_t nodes = 2'000;  // on average, those included that still join
  Duration session = std::chrono::minutes(138);
  Duration span = std::chrono::hours(10);
  double loss = 0;        // of messages, on every path
  double lookups = 0.01;  // a second and node
  std::uint64_t seed = 1;
  bool encode = false;
  std::ostream* trace = nullptr;
};

// What happened since the sample before.
struct ChurnSample {
  double hours = 0;  // since the start, at its end
  std::size_t live = 0;
  std::uint64_t lookups = 0;
  std::uint64_t lost = 0;
  std::uint64_t incorrect = 0;
  double control_per_node_per_second = 0;
};

struct ChurnResults {
  std::uint64_t arrivals = 0;
  std::uint64_t failures = 0;
  double live_nodes_mean = 0;  // active ones

  std::uint64_t lookups = 0;
  std::uint64_t lost = 0;              // not delivered within a minute
  std::uint64_t lost_with_origin = 0;  // of these, because the node that asked failed meanwhile
  std::uint64_t incorrect = 0;         // delivered by another node than the closest active one
  Duration way{};                      // sums over those delivered: until they were ..
  Duration direct{};                   // .. and from origin to deliverer
  // Of these, the ones that did not wait for a dead node's place to be taken over.
  Duration prompt_way{};
  Duration prompt_direct{};
  std::uint64_t waited = 0;  // the others

  // All messages but lookups on their way and their answers, a second and active
  // node: hop acks are in it.
  struct Control {
    std::string_view kind;
    double per_node_per_second = 0;
  };
  std::vector<Control> control;

  // Of every failure, until no node near it had the failed one in its leaf set
  // any more: to a second, in ascending order.
  std::vector<Duration> repairs;
  std::vector<ChurnSample> samples;

  double lost_share() const;
  double incorrect_share() const;
  double delay_stretch() const;
  double prompt_delay_stretch() const;
  double control_per_node_per_second() const;
  Duration repair_p99() const;
};

class ChurnExperiment final : private Observer {
 public:
  ChurnExperiment(const ChurnOptions& options, Progress progress);
  ~ChurnExperiment();

  // Once.
  ChurnResults run();
  Simulation& simulation() { return ring_.simulation(); }

 private:
  enum class What : std::uint8_t { arrival, failure, lookup, look, sample };
  struct Plan {
    MonoTime at{};
    std::uint64_t number = 0;  // of two at one time, the earlier planned comes first
    What what{};
    NodeIndex node = no_node;
    bool operator>(const Plan& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  struct Asked {
    Id key;
    NodeIndex origin = no_node;
    MonoTime at{};
    bool delivered = false;  // in time
    bool incorrect = false;
  };
  struct Failure {
    PeerRef peer;
    MonoTime at{};
    std::vector<NodeIndex> holders;  // that have it in their leaf sets
  };

  // Observer
  void said(NodeIndex from, NodeIndex to, const wire::Message& message) override;
  void activated(NodeIndex node) override;

  void plan(Duration ahead, What what, NodeIndex node = no_node);
  Duration draw(double per_second);
  void begin();
  void carry_out(const Plan& plan);
  void arrive();
  void fail(NodeIndex node);
  void look_up();
  void deliver(std::uint32_t nonce, NodeIndex node);
  void look_at_repairs(MonoTime now);
  void count_live();
  void sample();
  std::uint64_t control_sent() const;
  void count_control(double node_seconds);
  void judge();

  ChurnOptions options_;
  Progress progress_;
  Random random_;
  RingExperiment ring_;
  LiveRing live_;
  std::priority_queue<Plan, std::vector<Plan>, std::greater<>> plans_;
  std::uint64_t plans_made_ = 0;
  MonoTime start_{};
  std::vector<Asked> asked_;  // a lookup's nonce is its place plus one
  std::vector<Failure> failures_;
  std::vector<MonoTime> failed_at_;  // by node; never if it has not
  std::vector<TrafficByType> traffic_before_;
  std::uint64_t control_before_ = 0;  // the present sample
  double live_seconds_ = 0;
  MonoTime live_since_{};  // of the present number of them
  double live_seconds_before_ = 0;
  ChurnResults results_;
};

}  // namespace canopy::sim
