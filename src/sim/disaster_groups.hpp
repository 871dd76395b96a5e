// The groups of a ring to which something happens: every other one ordered, some
// random members each, and messages all the time.
//
// Members that stop are members no more. Positions of ordered groups and the gaps
// that members are told of go to an OrderChecker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "sim/order_checker.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

class DisasterGroups final : public Observer {
 public:
  // The simulation must outlive it.
  DisasterGroups(Simulation& simulation, std::size_t groups, std::uint64_t seed);
  ~DisasterGroups();
  DisasterGroups(const DisasterGroups&) = delete;
  DisasterGroups& operator=(const DisasterGroups&) = delete;

  // Creates the next group and has these nodes join it.
  void create(NodeIndex creator);
  void join(const std::vector<NodeIndex>& nodes);
  bool all_created() const { return members_.size() == groups_; }

  // From a random member of each group in turn, so many.
  void publish(std::size_t messages);

  // To each group a message; after a while, how many of all members have got it.
  void publish_last();
  struct Reach {
    std::size_t members = 0;
    std::size_t reached = 0;
    std::size_t twice = 0;
  };
  Reach reach() const;

  // Whether each group has one root, the node of the ring closest to it, and all its
  // members that are in the ring can be reached from there by the children that each
  // knows.
  bool all_reached(const RingOrder& ring) const;

  std::size_t size() const { return members_.size(); }
  // Ordered groups whose members missed something that they were told of.
  std::uint64_t gaps_told() const { return order_.gaps(); }
  Findings judge_order() const { return order_.judge(); }

  // Observer
  void said(NodeIndex from, NodeIndex to, const wire::Message& message) override;
  void multicast(NodeIndex node, const wire::Multicast& message) override;
  void gap(NodeIndex node, const Id& group, const scribe::Missed& missed) override;

 private:
  wire::GroupName name(std::size_t group) const;
  Id id(std::size_t group) const;
  OrderChecker::Member member(NodeIndex node) const;
  NodeIndex some_member(std::size_t group);
  bool reached(const RingOrder& ring, const Id& group, const std::vector<NodeIndex>& members) const;

  Simulation& simulation_;
  std::size_t groups_;
  Random random_;
  std::vector<std::vector<NodeIndex>> members_;  // by group
  std::size_t next_ = 0;                         // that is published to
  OrderChecker order_;
  std::map<wire::MessageId, std::size_t> last_;  // group of each last message
  std::map<wire::MessageId, std::map<NodeIndex, unsigned>> received_;
};

}  // namespace canopy::sim
