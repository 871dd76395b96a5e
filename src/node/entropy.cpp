#include "node/entropy.hpp"

#include <sys/random.h>

#include "base/assert.hpp"

namespace canopy::node {

std::uint64_t system_entropy() {
  std::uint64_t bits = 0;
  CANOPY_ASSERT(::getentropy(&bits, sizeof bits) == 0);
  return bits;
}

}  // namespace canopy::node
