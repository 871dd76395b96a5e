// Random bits from the operating system, to seed generators and to draw UUIDs.
#pragma once

#include <cstdint>

namespace canopy::node {

// 64 of them. Thread-safe.
std::uint64_t system_entropy();

}  // namespace canopy::node
