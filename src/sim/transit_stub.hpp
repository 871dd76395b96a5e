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

 private:
  std::size_t size_;
  std::vector<std::int64_t> delay_;
  std::vector<std::uint8_t> parent_;
};

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

 private:
  // A stub domain hangs on its transit router by its router 0.
  struct Stub {
    PathTable paths{routers_per_stub};
    std::int64_t uplink_us = 0;
  };

  void build_transit(Random& random);
  void build_stub(Stub& stub, Random& random);
  void find_ways_up();
  std::int64_t mean_delay_us() const;

  PathTable transit_{transit_routers};
  std::vector<Stub> stubs_;
  std::vector<std::int64_t> to_transit_us_;  // from each stub router to its transit router
  std::vector<std::uint16_t> router_of_host_;
};

}  // namespace canopy::sim
