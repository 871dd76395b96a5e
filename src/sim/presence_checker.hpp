// What is promised of numbers of members, checked from outside. All the time: a number
// that is said to be complete counts nobody twice, so it is not above the number of
// those that are members, or have been until a while ago (unless links have lost
// messages in the meantime). As long as there have been no
// faults: nor is it below the number of those that have been for a while. Once the ring
// is quiet: the root of each group knows how many there are, and so does every process
// that watches them. Nodes watch by a rule of their own, every third membership.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "scribe/events.hpp"
#include "sim/checkers.hpp"

namespace canopy::sim {

class PresenceChecker {
 public:
  using Member = std::pair<NodeIndex, std::uint64_t>;  // node, its incarnation

  static bool watches(NodeIndex node, std::uint32_t group) { return (node + group) % 3 == 0; }

  // `noticed`: so long one that has left may be counted yet, or one that has come not;
  // `struck`: one whose process has stopped.
  PresenceChecker(Duration noticed, Duration struck) : noticed_(noticed), struck_(struck) {}

  // The process is about to be a member; is one; is none any more.
  void joins(const Member& member, const Id& group) { lives_[group].push_back({member}); }
  void joined(const Member& member, const Id& group, MonoTime now);
  void left(const Member& member, const Id& group, MonoTime now);

  // The process watches from now on; was told something; watches no more.
  void began(const Member& member, const Id& group) { shown_.try_emplace({member, group}, 0); }
  void told(const Member& member, const Id& group, const scribe::Presence& presence);
  void ended(const Member& member, const Id& group) { shown_.erase({member, group}); }
  void stopped(const Member& member, MonoTime now);

  // What the roots say now. `faultless`: nothing has gone wrong yet.
  Findings look(const Simulation& simulation, const Id& group, bool faultless);

  // The group has so many members, as its root has counted them.
  Findings judge(const Simulation& simulation, const Id& group, std::size_t members) const;
  // And the root is sure of it.
  static Findings judge_certainty(const Simulation& simulation, const Id& group);

 private:
  struct Life {
    Member member;
    MonoTime since = never;
    MonoTime until = never;
    MonoTime counted_until = never;  // at the latest
  };
  Life* life_of(const Member& member, const Id& group);

  Duration noticed_;
  Duration struck_;
  std::map<Id, std::vector<Life>> lives_;
  std::map<std::pair<Member, Id>, std::uint64_t> shown_;
};

}  // namespace canopy::sim
