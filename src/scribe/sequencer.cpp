#include "scribe/sequencer.hpp"

#include <algorithm>
#include <limits>

#include "base/mix.hpp"

namespace canopy::scribe {

std::uint64_t epoch_above(std::uint64_t highest, const Id& root,
                          std::uint64_t incarnation) noexcept {
  const std::uint64_t counter = highest >> 32;
  if (counter == std::numeric_limits<std::uint32_t>::max()) {
    return std::max(highest, highest + 1);
  }
  const std::uint64_t mark = mix64(root.high64() ^ mix64(incarnation)) >> 32;
  return (counter + 1) << 32 | mark;
}

}  // namespace canopy::scribe
