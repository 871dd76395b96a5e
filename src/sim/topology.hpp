// Where hosts are and how long a message takes between them: the one thing the
// virtual network asks of a topology.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace canopy::sim {

// Hosts are numbered in the order in which they were attached.
using HostIndex = std::uint32_t;

class Topology {
 public:
  virtual ~Topology() = default;

  // One way; symmetric; zero from a host to itself.
  virtual Duration delay(HostIndex a, HostIndex b) const = 0;
  virtual std::size_t hosts() const = 0;

  // What decides who is closer, in a unit of the topology's own.
  virtual double distance(HostIndex a, HostIndex b) const {
    return static_cast<double>(delay(a, b).count());
  }
  // Hosts of one site are equally far from every other host. Numbered from 0.
  virtual std::size_t site(HostIndex host) const { return host; }
};

}  // namespace canopy::sim
