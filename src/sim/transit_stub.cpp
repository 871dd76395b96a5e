#include "sim/transit_stub.hpp"

#include <limits>

#include "base/assert.hpp"

namespace canopy::sim {

namespace {

constexpr std::int64_t unreachable_us = std::numeric_limits<std::int64_t>::max() / 4;

// Delays before scaling: the range of each kind of link, in microseconds.
struct LinkDelays {
  std::uint64_t from_us;
  std::uint64_t to_us;
};
constexpr LinkDelays between_transit_domains{8'000, 24'000};
constexpr LinkDelays within_transit_domain{2'000, 8'000};
constexpr LinkDelays transit_to_stub{1'500, 4'500};
constexpr LinkDelays within_stub{500, 1'500};

// Chance of a link between two routers of a domain beyond the random tree that
// connects it, and between two transit domains.
constexpr double extra_link = 0.3;
constexpr double extra_transit_domain_link = 0.4;

std::int64_t draw(const LinkDelays& delays, Random& random) {
  return static_cast<std::int64_t>(delays.from_us +
                                   random.below(delays.to_us - delays.from_us + 1));
}

// A random connected graph over `count` vertices: calls link(a, b) per edge.
template <class Link>
void random_connected_graph(std::size_t count, double extra, Random& random, Link&& link) {
  for (std::size_t b = 1; b < count; ++b) {
    const std::size_t tree_parent = random.below(b);
    for (std::size_t a = 0; a < b; ++a) {
      if (a == tree_parent || random.chance(extra)) link(a, b);
    }
  }
}

}  // namespace

PathTable::PathTable(std::size_t routers)
    : size_(routers), delay_(routers * routers, unreachable_us), parent_(routers * routers) {
  CANOPY_ASSERT(routers <= 256);
  for (std::size_t a = 0; a < size_; ++a) {
    for (std::size_t b = 0; b < size_; ++b) {
      parent_[a * size_ + b] = static_cast<std::uint8_t>(a);
    }
    delay_[a * size_ + a] = 0;
  }
}

void PathTable::link(std::size_t a, std::size_t b, std::int64_t delay_us) {
  delay_[a * size_ + b] = delay_us;
  delay_[b * size_ + a] = delay_us;
}

void PathTable::solve() {
  for (std::size_t via = 0; via < size_; ++via) {
    for (std::size_t a = 0; a < size_; ++a) {
      for (std::size_t b = 0; b < size_; ++b) {
        const std::int64_t around = delay_us(a, via) + delay_us(via, b);
        if (around >= delay_us(a, b)) continue;
        delay_[a * size_ + b] = around;
        parent_[a * size_ + b] = parent_[via * size_ + b];
      }
    }
  }
}

void PathTable::scale(std::int64_t numerator, std::int64_t denominator) {
  for (auto& delay : delay_) delay = delay * numerator / denominator;
}

TransitStub::TransitStub(Random random) : stubs_(stub_domains) {
  build_transit(random);
  for (auto& stub : stubs_) build_stub(stub, random);
  find_ways_up();
  const std::int64_t mean = mean_delay_us();
  transit_.scale(mean_core_delay_us, mean);
  for (auto& stub : stubs_) {
    stub.paths.scale(mean_core_delay_us, mean);
    stub.uplink_us = stub.uplink_us * mean_core_delay_us / mean;
  }
  find_ways_up();
}

void TransitStub::find_ways_up() {
  to_transit_us_.clear();
  for (const Stub& stub : stubs_) {
    for (std::size_t router = 0; router < routers_per_stub; ++router) {
      to_transit_us_.push_back(stub.paths.delay_us(router, 0) + stub.uplink_us);
    }
  }
}

void TransitStub::build_transit(Random& random) {
  constexpr std::size_t width = routers_per_transit_domain;
  for (std::size_t domain = 0; domain < transit_domains; ++domain) {
    random_connected_graph(width, extra_link, random, [&](std::size_t a, std::size_t b) {
      transit_.link(domain * width + a, domain * width + b, draw(within_transit_domain, random));
    });
  }
  random_connected_graph(transit_domains, extra_transit_domain_link, random,
                         [&](std::size_t a, std::size_t b) {
                           const std::size_t from = a * width + random.below(width);
                           const std::size_t to = b * width + random.below(width);
                           transit_.link(from, to, draw(between_transit_domains, random));
                         });
  transit_.solve();
}

void TransitStub::build_stub(Stub& stub, Random& random) {
  random_connected_graph(routers_per_stub, extra_link, random, [&](std::size_t a, std::size_t b) {
    stub.paths.link(a, b, draw(within_stub, random));
  });
  stub.paths.solve();
  stub.uplink_us = draw(transit_to_stub, random);
}

// Over all ordered pairs of stub routers, a router with itself included.
std::int64_t TransitStub::mean_delay_us() const {
  std::int64_t sum = 0;
  std::vector<std::int64_t> up(transit_routers);  // from the routers below it to a transit router
  for (std::size_t domain = 0; domain < stub_domains; ++domain) {
    std::int64_t within = 0;
    std::int64_t up_here = 0;
    for (std::size_t a = 0; a < routers_per_stub; ++a) {
      up_here += to_transit_us_[domain * routers_per_stub + a];
      for (std::size_t b = 0; b < routers_per_stub; ++b)
        within += stubs_[domain].paths.delay_us(a, b);
    }
    const auto count = static_cast<std::int64_t>(routers_per_stub);
    // Pairs within the domain do not climb to the transit router and back.
    sum += within - 2 * count * up_here;
    up[domain / stubs_per_transit_router] += up_here;
  }
  const auto below = static_cast<std::int64_t>(stubs_per_transit_router * routers_per_stub);
  for (std::size_t a = 0; a < transit_routers; ++a) {
    for (std::size_t b = 0; b < transit_routers; ++b) {
      sum += below * (up[a] + up[b]) + below * below * transit_.delay_us(a, b);
    }
  }
  constexpr auto routers = static_cast<std::int64_t>(stub_routers);
  return sum / (routers * routers);
}

HostIndex TransitStub::attach(Random& random) {
  router_of_host_.push_back(static_cast<std::uint16_t>(random.below(stub_routers)));
  return static_cast<HostIndex>(router_of_host_.size() - 1);
}

std::int64_t TransitStub::core_delay_us(std::size_t a, std::size_t b) const {
  const std::size_t domain_a = a / routers_per_stub;
  const std::size_t domain_b = b / routers_per_stub;
  if (domain_a == domain_b) {
    return stubs_[domain_a].paths.delay_us(a % routers_per_stub, b % routers_per_stub);
  }
  return to_transit_us_[a] + to_transit_us_[b] +
         transit_.delay_us(domain_a / stubs_per_transit_router,
                           domain_b / stubs_per_transit_router);
}

Duration TransitStub::delay(HostIndex a, HostIndex b) const {
  if (a == b) return Duration(0);
  return Duration(2 * lan_delay_us + core_delay_us(router_of_host_[a], router_of_host_[b]));
}

}  // namespace canopy::sim
