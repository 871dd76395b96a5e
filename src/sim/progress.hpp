// How far a long calculation is.
#pragma once

#include <functional>
#include <string_view>

namespace canopy::sim {

// Told every now and then: what is being done and how much of it is done (0..1).
using Progress = std::function<void(std::string_view what, double done)>;

}  // namespace canopy::sim
