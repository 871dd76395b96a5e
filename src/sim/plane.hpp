// Hosts as points of a plane; the delay is in proportion to their Euclidean
// distance.
#pragma once

#include <vector>

#include "sim/topology.hpp"

namespace canopy::sim {

struct Point {
  double x = 0;
  double y = 0;
};

double distance(const Point& a, const Point& b) noexcept;

class Plane final : public Topology {
 public:
  explicit Plane(double microseconds_per_unit = 100)
      : microseconds_per_unit_(microseconds_per_unit) {}

  HostIndex attach(const Point& point);

  Duration delay(HostIndex a, HostIndex b) const override;
  std::size_t hosts() const override { return points_.size(); }
  double distance(HostIndex a, HostIndex b) const override {
    return sim::distance(points_[a], points_[b]);
  }
  const Point& point(HostIndex host) const { return points_[host]; }

 private:
  double microseconds_per_unit_;
  std::vector<Point> points_;
};

}  // namespace canopy::sim
