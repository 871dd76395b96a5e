#include "sim/telling_keys.hpp"

namespace canopy::sim {

Id midpoint(const Id& a, const Id& b, unsigned id_bits) {
  Id::Bytes half = (b - a).to_bytes();
  unsigned carry = 0;
  for (auto& byte : half) {
    const unsigned value = carry << 8 | byte;
    byte = static_cast<std::uint8_t>(value >> 1);
    carry = value & 1;
  }
  return (a + Id::from_bytes(half)).truncated(id_bits);
}

std::vector<Id> telling_keys(const RingOrder& ring, unsigned id_bits) {
  std::vector<Id> keys;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    keys.push_back(ring[i].id);
    keys.push_back(midpoint(ring[i].id, ring[(i + 1) % ring.size()].id, id_bits));
  }
  return keys;
}

}  // namespace canopy::sim
