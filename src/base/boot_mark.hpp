// One boot of a peer, or of a publisher, as a 64-bit hash: the same on every machine.
#pragma once

#include <cstdint>

#include "base/id.hpp"
#include "base/mix.hpp"

namespace canopy {

inline std::uint64_t boot_mark(const Id& id, std::uint64_t incarnation) noexcept {
  return mix64(id.high64() ^ mix64(incarnation));
}

}  // namespace canopy
