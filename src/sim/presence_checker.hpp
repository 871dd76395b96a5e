// What is promised of numbers of members, checked from outside once the ring is
// quiet: the root of each group knows how many there are, and so does every
// process that watches them. Nodes watch by a rule of their own, every third
// membership.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "scribe/events.hpp"
#include "sim/checkers.hpp"

namespace canopy::sim {

class PresenceChecker {
 public:
  using Member = std::pair<NodeIndex, std::uint64_t>;  // node, its incarnation

  static bool watches(NodeIndex node, std::uint32_t group) { return (node + group) % 3 == 0; }

  // The process watches from now on; was told something; watches no more.
  void began(const Member& member, const Id& group) { shown_.try_emplace({member, group}, 0); }
  void told(const Member& member, const Id& group, const scribe::Presence& presence);
  void ended(const Member& member, const Id& group) { shown_.erase({member, group}); }
  void stopped(const Member& member);

  // The group has so many members, as its root has counted them.
  Findings judge(const Simulation& simulation, const Id& group, std::size_t members) const;
  // And the root is sure of it.
  static Findings judge_certainty(const Simulation& simulation, const Id& group);

 private:
  std::map<std::pair<Member, Id>, std::uint64_t> shown_;
};

}  // namespace canopy::sim
