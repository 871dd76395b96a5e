#include "sim/fuzz_lookups.hpp"

#include <utility>

#include <fmt/format.h>

namespace canopy::sim {

namespace {

constexpr std::uint64_t lookups_seed = 0x6c6f6f6b7570;
constexpr unsigned lookups_at_once = 3;

}  // namespace

FuzzLookups::FuzzLookups(Simulation& simulation, std::uint64_t seed,
                         std::function<void(std::string)> find)
    : simulation_(simulation), find_(std::move(find)), random_(seed ^ lookups_seed) {}

void FuzzLookups::look_up(std::size_t nodes) {
  for (unsigned i = 0; i < lookups_at_once; ++i) {
    const auto origin = static_cast<NodeIndex>(random_.below(nodes));
    const Id& key = simulation_.id(static_cast<NodeIndex>(random_.below(nodes)));
    if (!runs(origin)) continue;
    auto& peer = simulation_.peer(origin);
    keys_.push_back(key);
    peer.pastry().route(
        key,
        wire::RouteTrace{static_cast<std::uint32_t>(keys_.size()), simulation_.ref(origin), {}});
    peer.scribe().flush();
  }
}

void FuzzLookups::said(NodeIndex from, const wire::Message& message) {
  const auto* reply = std::get_if<wire::RouteTraceReply>(&message);
  if (reply == nullptr || reply->nonce == 0 || reply->nonce > keys_.size()) return;
  if (simulation_.now() >= pardoned_until_) judge(from, keys_[reply->nonce - 1]);
}

bool FuzzLookups::runs(NodeIndex node) const {
  return simulation_.state(node) == NodeState::running && simulation_.active(node);
}

bool FuzzLookups::acts_for(NodeIndex node, const Id& key) {
  if (!runs(node)) return false;
  pastry::Pastry& pastry = simulation_.peer(node).pastry();
  return pastry.is_root(key) && pastry.may_act(key);
}

void FuzzLookups::judge(NodeIndex node, const Id& key) {
  for (NodeIndex other = 0; other < simulation_.size(); ++other) {
    if (other == node || !acts_for(other, key)) continue;
    const unsigned bits = simulation_.overlay_config().pastry.id_bits;
    find_(fmt::format("{} delivers {}, for which {} may act as well",
                      simulation_.id(node).to_hex(bits), key.to_hex(bits),
                      simulation_.id(other).to_hex(bits)));
  }
}

}  // namespace canopy::sim
