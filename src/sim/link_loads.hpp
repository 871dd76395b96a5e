// How many messages each physical link of a transit-stub internet carries.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/transit_stub.hpp"

namespace canopy::sim {

class LinkLoads {
 public:
  explicit LinkLoads(const TransitStub& internet)
      : internet_(internet), loads_(internet.links()), tree_of_(internet.links()) {}

  // A message from one host to another.
  void send(HostIndex from, HostIndex to);

  // IP multicast: one message on each link of the shortest-path tree from the root
  // to the members.
  void begin_multicast(HostIndex root);
  void reach(HostIndex member);

  std::uint64_t messages() const { return messages_; }  // on all links together
  std::uint32_t most() const;                           // on one
  const std::vector<std::uint32_t>& loads() const { return loads_; }

 private:
  void count(LinkIndex link) {
    ++loads_[link];
    ++messages_;
  }

  const TransitStub& internet_;
  std::vector<std::uint32_t> loads_;    // by link
  std::vector<std::uint32_t> tree_of_;  // by link: the last multicast that used it
  std::uint64_t messages_ = 0;
  std::uint32_t multicasts_ = 0;
  HostIndex root_ = 0;
};

}  // namespace canopy::sim
