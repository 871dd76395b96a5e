#include "queue/position.hpp"

namespace canopy::queue {

// FNV-1a, finished by splitmix64's mixer.
std::uint64_t lane_of(std::string_view group) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : group) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  hash ^= hash >> 31;
  return hash == 0 ? 1 : hash;
}

}  // namespace canopy::queue
