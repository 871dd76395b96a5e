// How many seeds a test with random histories runs: as many as it says, or as the environment
// variable CANOPY_TEST_SEEDS does, for long runs by hand.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace canopy {

inline std::uint64_t seeds_or(std::uint64_t usual) {
  const char* wanted = std::getenv("CANOPY_TEST_SEEDS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : usual;
}

}  // namespace canopy
