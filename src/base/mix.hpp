// A 64-bit finalizer (splitmix64's) for hashes that travel or decide: the same
// on every machine and library. Not for secrets.
#pragma once

#include <cstdint>

namespace canopy {

constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace canopy
