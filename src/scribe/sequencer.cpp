#include "scribe/sequencer.hpp"

#include <algorithm>

#include "base/boot_mark.hpp"

namespace canopy::scribe {

namespace {

constexpr int root_bits = 8;
constexpr int handover_bits = 12;
constexpr int order_bits = epoch_count_shift - handover_bits - root_bits;
constexpr std::uint64_t count_max = (std::uint64_t{1} << (64 - epoch_count_shift)) - 1;
constexpr std::uint64_t handovers_max = (std::uint64_t{1} << handover_bits) - 1;

std::uint64_t short_mark_of(const Id& root, std::uint64_t incarnation) noexcept {
  return boot_mark(root, incarnation) & ((1 << root_bits) - 1);
}

}  // namespace

std::uint64_t epoch_above(std::uint64_t highest, const Id& root,
                          std::uint64_t incarnation) noexcept {
  const std::uint64_t count = highest >> epoch_count_shift;
  if (count == count_max) return std::max(highest, highest + 1);
  const std::uint64_t order = boot_mark(root, incarnation) >> (64 - order_bits);
  return (count + 1) << epoch_count_shift | order << (handover_bits + root_bits) |
         short_mark_of(root, incarnation);
}

std::optional<std::uint64_t> epoch_after(std::uint64_t closed, const Id& root,
                                         std::uint64_t incarnation) noexcept {
  const std::uint64_t handovers = closed >> root_bits;
  if ((handovers & handovers_max) == handovers_max) return std::nullopt;
  return (handovers + 1) << root_bits | short_mark_of(root, incarnation);
}

}  // namespace canopy::scribe
