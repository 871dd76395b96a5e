#include "scribe/relocations.hpp"

#include <algorithm>
#include <utility>

#include "pastry/proximity.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

namespace {

constexpr std::size_t moves_max = 256;      // groups in which this node is on the move
constexpr std::size_t candidates_max = 16;  // that are measured and asked, of one move

// With time for a farewell and for messages under way, still within what the
// parent waits.
Duration moving_time(const Config& config) { return relocation_time_max(config) / 2; }

}  // namespace

void Relocations::on_relocation(PeerRef from, const wire::Relocation& relocation) {
  if (relocation.candidates.size() != relocation.round_trips_us.size()) {
    ++core_.counters.malformed;
    return;
  }
  const Group* group = core_.find(relocation.group);
  if (!group) return tree_.answer_stray(from, relocation.group);
  if (core_.departing || group->parent() != from) return;
  if (const auto known = moves_.find(relocation.group); known != moves_.end()) {
    if (known->second.parent == from) return;
    end(relocation.group);
  }
  if (moves_.size() >= moves_max) {
    ++core_.counters.limits_met;
    return;
  }
  Move move{from, relocation.entries, candidates_of(relocation, *group), true,
            core_.now() + moving_time(core_.config)};
  if (!move.candidates.empty()) begin(relocation.group, std::move(move));
}

// Nobody who is below this node, as far as it knows.
std::vector<Relocations::Candidate> Relocations::candidates_of(const wire::Relocation& relocation,
                                                               const Group& group) const {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < relocation.candidates.size(); ++i) {
    const PeerRef peer = relocation.candidates[i];
    if (peer == core_.self || peer == group.parent() || group.children.contains(peer)) continue;
    if (candidates.size() == candidates_max) break;
    const auto round_trip = core_.pastry.round_trip(peer);
    candidates.push_back(
        {peer, relocation.round_trips_us[i], round_trip ? pastry::distance_of(*round_trip) : 0});
  }
  return candidates;
}

void Relocations::begin(const Id& id, Move move) {
  // There is nothing to choose from one.
  move.measuring = move.candidates.size() > 1 &&
                   std::ranges::any_of(move.candidates, [](const Candidate& candidate) {
                     return candidate.to_self_us == 0;
                   });
  const Move& begun = moves_.emplace(id, std::move(move)).first->second;
  if (!begun.measuring) return ask_next(id);
  timers_.schedule(id, core_.now() + core_.config.heartbeat_interval);
  core_.wake_at(timers_.next());
  for (const Candidate& candidate : begun.candidates) {
    if (candidate.to_self_us == 0) core_.pastry.measure(candidate.peer);
  }
}

void Relocations::measured(PeerRef peer, Duration round_trip) {
  std::vector<Id> ready;
  for (auto& [id, move] : moves_) {
    if (!move.measuring) continue;
    bool all_known = true;
    for (Candidate& candidate : move.candidates) {
      if (candidate.peer == peer) candidate.to_self_us = pastry::distance_of(round_trip);
      all_known &= candidate.to_self_us != 0;
    }
    if (all_known) ready.push_back(id);
  }
  for (const Id& id : ready) ask_next(id);
}

// Those that have not answered the measuring come last.
void Relocations::ask_next(const Id& id) {
  Move& move = moves_.at(id);
  Group* group = core_.find(id);
  if (!group || core_.departing || group->parent() != move.parent || move.candidates.empty() ||
      core_.now() >= move.deadline) {
    return end(id);
  }
  move.measuring = false;
  const auto way = [](const Candidate& candidate) {
    return std::pair(candidate.to_self_us == 0,
                     std::uint64_t{candidate.to_self_us} + candidate.to_parent_us);
  };
  const auto best = std::ranges::min_element(move.candidates, {}, way);
  const PeerRef candidate = best->peer;
  move.candidates.erase(best);
  timers_.schedule(id, core_.now() + core_.config.join_retry_interval);
  core_.wake_at(timers_.next());
  tree_.ask_candidate(id, candidate, move.entries);
}

void Relocations::on_join_ack(const Id& id) {
  const auto move = moves_.find(id);
  if (move == moves_.end()) return;
  const Group* group = core_.find(id);
  if (!group || group->parent() != move->second.parent) end(id);
}

bool Relocations::on_refused(PeerRef from, const wire::JoinRefused& refusal) {
  Group* group = core_.find(refusal.group);
  if (!group || !group->asked(from, refusal.nonce)) return false;
  group->forget_candidate();
  if (moves_.contains(refusal.group)) ask_next(refusal.group);
  return true;
}

void Relocations::end(const Id& id) {
  if (Group* group = core_.find(id)) group->forget_candidate();
  timers_.cancel(id);
  moves_.erase(id);
}

void Relocations::tick() {
  for (const Id& id : timers_.take_due(core_.now())) ask_next(id);
}

void Relocations::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [id, move] : moves_) {
    in_use.push_back(move.parent);
    for (const Candidate& candidate : move.candidates) in_use.push_back(candidate.peer);
  }
}

}  // namespace canopy::scribe
