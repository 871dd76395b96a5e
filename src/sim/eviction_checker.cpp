#include "sim/eviction_checker.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "pastry/prober.hpp"

namespace canopy::sim {

EvictionChecker::EvictionChecker(const Simulation& simulation) : simulation_(simulation) {
  const pastry::Config& config = simulation.overlay_config().pastry;
  probes_needed_ = std::min(config.probe_retries + 1, pastry::Prober::sure_tries);
  // Slow links are given four times as long to answer each; then the peer is named
  // for twice as long as it takes to find out about a failure.
  const Duration probing = config.probe_timeout * (config.probe_retries + 2);
  window_ = 4 * probing + 2 * (config.heartbeat_interval + probing);
}

void EvictionChecker::sent(NodeIndex from, NodeIndex to, const wire::Message& message) {
  const auto* leaves = std::get_if<wire::LeafProbe>(&message);
  const bool asks = leaves != nullptr && !leaves->reply;
  if (!asks && !std::holds_alternative<wire::Probe>(message)) return;
  auto& times = probes_[{simulation_.ref(from), simulation_.ref(to)}];
  times.push_back(simulation_.now());
  if (times.size() > probes_needed_) times.pop_front();
}

Findings EvictionChecker::said(NodeIndex from, NodeIndex to, const wire::Message& message) {
  const PeerRef self = simulation_.ref(from);
  if (std::holds_alternative<wire::Departure>(message)) {
    goodbyes_.insert({simulation_.ref(to), self});
  }
  Findings findings;
  const auto* leaves = std::get_if<wire::LeafProbe>(&message);
  if (leaves == nullptr) return findings;
  for (const PeerRef failed : leaves->failed) {
    const Pair pair{self, failed};
    if (given_up_rightly(pair) || !found_.insert(pair).second) continue;
    const unsigned id_bits = simulation_.overlay_config().pastry.id_bits;
    findings.push_back(fmt::format("{} has given {} up without probes of its own",
                                   simulation_.id(from).to_hex(id_bits),
                                   simulation_.id(simulation_.node_of(failed)).to_hex(id_bits)));
  }
  return findings;
}

bool EvictionChecker::given_up_rightly(const Pair& pair) const {
  const PeerRef failed = pair.second;
  if (goodbyes_.contains(pair) || simulation_.ref(simulation_.node_of(failed)) != failed)
    return true;
  const auto probes = probes_.find(pair);
  return probes != probes_.end() && probes->second.size() == probes_needed_ &&
         probes->second.front() >= simulation_.now() - window_;
}

}  // namespace canopy::sim
