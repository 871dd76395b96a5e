// Where the nodes of a disaster are: hosts in one of ten zones, which may fail as a
// whole.
#pragma once

#include <cstddef>
#include <memory>

#include "base/random.hpp"
#include "sim/topology.hpp"

namespace canopy::sim {

class DisasterGround {
 public:
  static constexpr std::size_t zones = 10;

  virtual ~DisasterGround() = default;
  virtual const Topology& topology() const = 0;
  virtual void attach(Random& random) = 0;
  virtual std::size_t zone(HostIndex host) const = 0;

  // A machine room, in which nobody is farther than half a millisecond; its zones are
  // rows. Or an internet of 5,050 routers; its zones are transit domains with all that
  // hangs on them.
  static std::unique_ptr<DisasterGround> room();
  static std::unique_ptr<DisasterGround> internet(Random random);
};

}  // namespace canopy::sim
