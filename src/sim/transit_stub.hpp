// A transit-stub internet after GT-ITM (Zegura, Calvert, Bhattacharjee, INFOCOM
// 1996), of the size that Pastry and Scribe were evaluated on: 10 transit
// domains of 5 routers; on each transit router 10 stub domains of 10 routers,
// 5,050 routers in all; hosts on stub routers, behind a LAN link of 1 ms.
//
// Domains are random connected graphs; link delays are drawn per kind of link
// and scaled so that the mean delay between stub routers is 40.7 ms. Stub
// domains are single-homed, so one 50 x 50 and 500 10 x 10 tables hold every
// shortest path. All arithmetic is in integers: the same seed builds the same
// internet everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "sim/topology.hpp"

namespace canopy::sim {

// All shortest paths of a small graph, with parents to walk them.
class PathTable {
 public:
  explicit PathTable(std::size_t routers);

  void link(std::size_t a, std::size_t b, std::int64_t delay_us);
  void solve();  // Floyd and Warshall; all routers must be connected

  std::int64_t delay_us(std::size_t a, std::size_t b) const { return delay_[a * size_ + b]; }
  // The router before `b` on the way from `a`; `a` itself when a == b.
  std::size_t parent(std::size_t a, std::size_t b) const { return parent_[a * size_ + b]; }
  void scale(std::int64_t numerator, std::int64_t denominator);

  // Calls visit(number of the link) for each link from a to b, the last one
  // first, until that returns false; returns whether it never did. A link is
  // numbered below size * size, whichever way it is walked.
  template <class Visit>
  bool walk_back(std::size_t a, std::size_t b, Visit&& visit) const {
    while (a != b) {
      const std::size_t before = parent(a, b);
      if (!visit(std::min(before, b) * size_ + std::max(before, b))) return false;
      b = before;
    }
    return true;
  }

 private:
  std::size_t size_;
  std::vector<std::int64_t> delay_;
  std::vector<std::uint8_t> parent_;
};

using LinkIndex = std::uint32_t;

class TransitStub final : public Topology {
 public:
  static constexpr std::size_t transit_domains = 10;
  static constexpr std::size_t routers_per_transit_domain = 5;
  static constexpr std::size_t transit_routers = transit_domains * routers_per_transit_domain;
  static constexpr std::size_t stubs_per_transit_router = 10;
  static constexpr std::size_t stub_domains = transit_routers * stubs_per_transit_router;
  static constexpr std::size_t routers_per_stub = 10;
  static constexpr std::size_t stub_routers = stub_domains * routers_per_stub;
  static constexpr std::int64_t mean_core_delay_us = 40'700;
  static constexpr std::int64_t lan_delay_us = 1'000;

  explicit TransitStub(Random random);

  // A host on a stub router drawn at random.
  HostIndex attach(Random& random);

  Duration delay(HostIndex a, HostIndex b) const override;
  std::size_t hosts() const override { return router_of_host_.size(); }
  std::size_t site(HostIndex host) const override { return router(host); }

  // Of stub routers, numbered domain by domain.
  std::int64_t core_delay_us(std::size_t a, std::size_t b) const;
  std::size_t router(HostIndex host) const { return router_of_host_[host]; }

  // Physical links, both directions of one as one, are numbered with gaps: those
  // between routers first, then the LAN link of each host.
  static constexpr std::size_t router_links = transit_routers * transit_routers + stub_domains +
                                              stub_domains * routers_per_stub * routers_per_stub;
  std::size_t links() const { return router_links + hosts(); }
  // Calls visit(LinkIndex) for each link of the shortest way from a to b, the last
  // one first, until that returns false. The ways from one host form a tree.
  template <class Visit>
  void walk_back(HostIndex a, HostIndex b, Visit&& visit) const;

 private:
  // A stub domain hangs on its transit router by its router 0.
  struct Stub {
    PathTable paths{routers_per_stub};
    std::int64_t uplink_us = 0;
  };

  static LinkIndex lan_link(HostIndex host) { return static_cast<LinkIndex>(router_links + host); }
  static LinkIndex uplink(std::size_t domain) {
    return static_cast<LinkIndex>(transit_routers * transit_routers + domain);
  }
  static LinkIndex first_link_of_stub(std::size_t domain) {
    return static_cast<LinkIndex>(transit_routers * transit_routers + stub_domains +
                                  domain * routers_per_stub * routers_per_stub);
  }

  void build_transit(Random& random);
  void build_stub(Stub& stub, Random& random);
  void find_ways_up();
  std::int64_t mean_delay_us() const;

  PathTable transit_{transit_routers};
  std::vector<Stub> stubs_;
  std::vector<std::int64_t> to_transit_us_;  // from each stub router to its transit router
  std::vector<std::uint16_t> router_of_host_;
};

template <class Visit>
void TransitStub::walk_back(HostIndex a, HostIndex b, Visit&& visit) const {
  if (a == b || !visit(lan_link(b))) return;
  const std::size_t domain_a = router(a) / routers_per_stub;
  const std::size_t domain_b = router(b) / routers_per_stub;
  const auto within_stub = [&](std::size_t domain, std::size_t from, std::size_t to) {
    return stubs_[domain].paths.walk_back(from, to, [&](std::size_t link) {
      return visit(first_link_of_stub(domain) + static_cast<LinkIndex>(link));
    });
  };
  const std::size_t in_stub_a = router(a) % routers_per_stub;
  const std::size_t in_stub_b = router(b) % routers_per_stub;
  if (domain_a == domain_b) {
    if (within_stub(domain_a, in_stub_a, in_stub_b)) visit(lan_link(a));
    return;
  }
  const auto in_transit = [&](std::size_t link) { return visit(static_cast<LinkIndex>(link)); };
  if (within_stub(domain_b, 0, in_stub_b) && visit(uplink(domain_b)) &&
      transit_.walk_back(domain_a / stubs_per_transit_router, domain_b / stubs_per_transit_router,
                         in_transit) &&
      visit(uplink(domain_a)) && within_stub(domain_a, in_stub_a, 0)) {
    visit(lan_link(a));
  }
}

}  // namespace canopy::sim
