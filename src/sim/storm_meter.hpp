// How much the nodes of a simulation send at their worst: in each second of virtual
// time, all together and the one that sends most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/observer.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

class StormMeter final : public Observer {
 public:
  struct Peak {
    std::uint64_t one_node = 0;  // most that one has sent in a second
    std::uint64_t all = 0;       // in the worst second
  };

  explicit StormMeter(const Simulation& simulation) : simulation_(simulation) {}

  // From now on.
  void begin();
  const Peak& probes();    // Probe and LeafProbe, repeats included, answers not
  const Peak& messages();  // of every kind

  // Observer
  void sent(NodeIndex from, NodeIndex to, const wire::Message& message) override;

 private:
  struct Count {
    Peak peak;
    std::vector<std::uint32_t> by_node;  // in this second
    std::uint64_t all = 0;               // likewise

    void add(NodeIndex node);
    void close();
  };

  void close_second();

  const Simulation& simulation_;
  std::int64_t second_ = 0;
  Count probes_;
  Count messages_;
};

}  // namespace canopy::sim
