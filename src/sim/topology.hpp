// Where hosts are and how long a message takes between them: the one thing the
// virtual network asks of a topology.
#pragma once

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
};

}  // namespace canopy::sim
