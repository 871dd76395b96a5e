#include "sim/disaster_ground.hpp"

#include "sim/plane.hpp"
#include "sim/transit_stub.hpp"

namespace canopy::sim {

namespace {

class Room final : public DisasterGround {
 public:
  const Topology& topology() const override { return plane_; }
  void attach(Random& random) override {
    const double x = random.unit() * side;
    plane_.attach({x, random.unit() * side});
  }
  std::size_t zone(HostIndex host) const override {
    return static_cast<std::size_t>(plane_.point(host).x / side * zones);
  }

 private:
  static constexpr double side = 350;
  Plane plane_{1};  // a microsecond per unit
};

class Internet final : public DisasterGround {
 public:
  explicit Internet(Random random) : internet_(random) {}
  const Topology& topology() const override { return internet_; }
  void attach(Random& random) override { internet_.attach(random); }
  std::size_t zone(HostIndex host) const override {
    return internet_.router(host) * zones / TransitStub::stub_routers;
  }

 private:
  static_assert(zones == TransitStub::transit_domains);
  TransitStub internet_;
};

}  // namespace

std::unique_ptr<DisasterGround> DisasterGround::room() { return std::make_unique<Room>(); }

std::unique_ptr<DisasterGround> DisasterGround::internet(Random random) {
  return std::make_unique<Internet>(random);
}

}  // namespace canopy::sim
