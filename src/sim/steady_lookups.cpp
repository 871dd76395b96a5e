#include "sim/steady_lookups.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/lookups.hpp"

namespace canopy::sim {

SteadyLookups::SteadyLookups(Simulation& simulation, std::uint64_t seed, Closest closest)
    : simulation_(simulation), random_(seed), closest_(std::move(closest)) {}

void SteadyLookups::look_up(NodeIndex origin) {
  const unsigned id_bits = simulation_.overlay_config().pastry.id_bits;
  const Id key = random_key(id_bits, random_);
  if (closest_(key, origin) == origin) return;  // nobody sends a word of it
  asked_.push_back({key, origin, simulation_.now()});
  auto& peer = simulation_.peer(origin);
  const auto nonce = static_cast<std::uint32_t>(asked_.size());
  peer.pastry().route(key, wire::RouteTrace{nonce, simulation_.ref(origin), {}});
  peer.scribe().flush();
}

void SteadyLookups::deliver(Asked& asked, NodeIndex node) {
  if (asked.delivered == never) asked.delivered = simulation_.now();
  asked.incorrect |= closest_(asked.key, asked.origin) != node;
}

void SteadyLookups::said(NodeIndex from, NodeIndex, const wire::Message& message) {
  const auto* reply = std::get_if<wire::RouteTraceReply>(&message);
  if (reply == nullptr || reply->nonce == 0 || reply->nonce > asked_.size()) return;
  deliver(asked_[reply->nonce - 1], from);
}

SteadyLookups::Outcome SteadyLookups::judge() const {
  Outcome outcome;
  for (const Asked& asked : asked_) {
    const bool lost = asked.delivered == never;
    if (lost &&
        (simulation_.stopped(asked.origin) || closest_(asked.key, asked.origin) == asked.origin)) {
      continue;
    }
    ++outcome.lookups;
    if (lost) {
      ++outcome.lost;
    } else {
      outcome.slowest = std::max(outcome.slowest, asked.delivered - asked.at);
    }
    if (asked.incorrect) ++outcome.incorrect;
    if (lost || asked.incorrect) outcome.last_bad = std::max(outcome.last_bad, asked.at);
  }
  return outcome;
}

}  // namespace canopy::sim
