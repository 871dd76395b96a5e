#include "sim/plane.hpp"

#include <cmath>

namespace canopy::sim {

// Not std::hypot, whose last digit differs between libraries; IEEE 754 fixes
// that of a square root.
double distance(const Point& a, const Point& b) noexcept {
  const double dx = a.x - b.x;
  const double dy = a.y - b.y;
  return std::sqrt(dx * dx + dy * dy);
}

HostIndex Plane::attach(const Point& point) {
  points_.push_back(point);
  return static_cast<HostIndex>(points_.size() - 1);
}

Duration Plane::delay(HostIndex a, HostIndex b) const {
  return Duration(static_cast<std::int64_t>(distance(a, b) * microseconds_per_unit_));
}

}  // namespace canopy::sim
