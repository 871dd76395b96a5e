// A child's way to another parent, at the wish of its present one: that one has
// too many children (bottleneck remover) or forwards for this child alone (path
// collapse), and names candidates.
//
// The child measures those whose distance it does not know, and asks them by
// direct JOINs, one after the other, beginning with the least
// delay(child, candidate) + delay(candidate, parent); who refuses or stays
// silent is passed over. The present parent serves on until one has taken the
// child, and goes on if none does; if it is lost meanwhile, the usual JOIN finds
// another one.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"

namespace canopy::scribe {

class Tree;

// A parent may take a child that it has told to go for one that stays.
constexpr Duration relocation_time_max(const Config& config) {
  return 8 * config.heartbeat_interval;
}

class Relocations {
 public:
  Relocations(Core& core, Tree& tree) : core_(core), tree_(tree) {}

  void on_relocation(PeerRef from, const wire::Relocation& relocation);
  // Some parent has taken this node.
  void on_join_ack(const Id& id);
  // Whether the refusal was a candidate's.
  bool on_refused(PeerRef from, const wire::JoinRefused& refusal);
  void measured(PeerRef peer, Duration round_trip);
  void tick();
  MonoTime next_deadline() const { return timers_.next(); }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Candidate {
    PeerRef peer;
    std::uint32_t to_parent_us = 0;
    std::uint32_t to_self_us = 0;  // 0: not known (yet)
  };
  struct Move {
    PeerRef parent;  // that wished it
    std::uint32_t entries = 0;
    std::vector<Candidate> candidates;  // not asked yet
    bool measuring = true;
    MonoTime deadline{};
  };

  std::vector<Candidate> candidates_of(const wire::Relocation& relocation,
                                       const Group& group) const;
  void begin(const Id& id, Move move);
  void ask_next(const Id& id);
  void end(const Id& id);

  Core& core_;
  Tree& tree_;
  std::map<Id, Move> moves_;
  DeadlineSet<Id> timers_;
};

}  // namespace canopy::scribe
