#include "sim/lookups.hpp"

#include <utility>

#include "sim/observer.hpp"

namespace canopy::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration answer_deadline = 60s;

// Follows the traces that it is told about; a trace's nonce is its number plus one.
class Follower final : public Observer {
 public:
  explicit Follower(const Topology& topology) : topology_(topology) {}

  struct Way {
    std::uint32_t hops = 0;
    std::uint32_t deliveries = 0;
    NodeIndex deliverer = no_node;
    Duration delay{};
  };

  std::vector<Way>& ways() { return ways_; }

  void said(NodeIndex from, NodeIndex to, const wire::Message& message) override {
    if (const auto* routed = std::get_if<wire::Routed>(&message)) {
      const auto* trace = std::get_if<wire::RouteTrace>(routed->body.get());
      if (trace == nullptr || trace->nonce > ways_.size()) return;
      Way& way = ways_[trace->nonce - 1];
      ++way.hops;
      way.delay += topology_.delay(from, to);
    } else if (const auto* reply = std::get_if<wire::RouteTraceReply>(&message)) {
      if (reply->nonce > ways_.size()) return;
      Way& way = ways_[reply->nonce - 1];
      ++way.deliveries;
      way.deliverer = from;
    }
  }

 private:
  const Topology& topology_;
  std::vector<Way> ways_;
};

}  // namespace

Id random_key(unsigned id_bits, Random& random) {
  Id::Bytes bytes{};
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
  return Id::from_bytes(bytes).truncated(id_bits);
}

std::vector<Lookup> random_lookups(std::size_t count, std::size_t nodes, unsigned id_bits,
                                   Random random) {
  std::vector<Lookup> lookups;
  for (std::size_t i = 0; i < count; ++i) {
    const auto origin = static_cast<NodeIndex>(random.below(nodes));
    lookups.push_back({origin, i % 2 == 1 ? lookups.back().key : random_key(id_bits, random)});
  }
  return lookups;
}

std::vector<double> LookupResults::hops_share() const {
  std::uint64_t delivered = 0;
  for (const std::uint64_t count : by_hops) delivered += count;
  std::vector<double> shares;
  for (const std::uint64_t count : by_hops) {
    shares.push_back(static_cast<double>(count) / static_cast<double>(delivered));
  }
  return shares;
}

double LookupResults::mean_hops() const {
  double mean = 0;
  double hops = 0;
  for (const double share : hops_share()) mean += share * hops++;
  return mean;
}

double LookupResults::delay_stretch() const {
  if (direct.count() == 0) return 0;
  return static_cast<double>(way.count()) / static_cast<double>(direct.count());
}

LookupResults run_lookups(Simulation& simulation, const RingOrder& ring,
                          const std::vector<Lookup>& lookups, std::uint64_t per_second) {
  Follower follower(simulation.topology());
  simulation.observe(follower);
  const MonoTime start = simulation.now();
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    const std::uint64_t at_us = i * 1'000'000 / per_second;
    simulation.run_until(start + Duration(static_cast<std::int64_t>(at_us)));
    auto& way = follower.ways().emplace_back();
    auto& peer = simulation.peer(lookups[i].origin);
    if (peer.pastry().is_root(lookups[i].key)) {
      way.deliveries = 1;
      way.deliverer = lookups[i].origin;
      continue;
    }
    peer.pastry().route(
        lookups[i].key,
        wire::RouteTrace{static_cast<std::uint32_t>(i + 1), simulation.ref(lookups[i].origin), {}});
    peer.scribe().flush();
  }
  simulation.run_for(answer_deadline);
  simulation.stop_observing(follower);

  LookupResults results;
  results.lookups = lookups.size();
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    const auto& way = follower.ways()[i];
    if (way.deliveries == 0) {
      ++results.lost;
      continue;
    }
    if (way.deliveries > 1 || way.deliverer != ring.closest(lookups[i].key)) ++results.incorrect;
    if (way.hops >= results.by_hops.size()) results.by_hops.resize(way.hops + 1);
    ++results.by_hops[way.hops];
    results.way += way.delay;
    results.direct += simulation.network().delay(lookups[i].origin, way.deliverer);
  }
  return results;
}

}  // namespace canopy::sim
