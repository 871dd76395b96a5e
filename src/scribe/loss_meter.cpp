#include "scribe/loss_meter.hpp"

#include <algorithm>
#include <utility>

#include "base/boot_mark.hpp"
#include "base/mix.hpp"

namespace canopy::scribe {

namespace {

constexpr unsigned count_bits = 40;
constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;
constexpr std::size_t stretches_max = 1024;

}  // namespace

std::uint64_t loss_number(const Id& root, std::uint64_t incarnation, std::uint64_t epoch,
                          std::uint64_t count) noexcept {
  const std::uint64_t mark = mix64(boot_mark(root, incarnation) ^ epoch) >> count_bits;
  return (mark | 1) << count_bits | (count & count_mask);
}

std::uint64_t count_of(std::uint64_t number) noexcept { return number & count_mask; }

LossMeter::Reign& LossMeter::reign_of(std::uint64_t mark) {
  for (Reign& reign : reigns_) {
    if (reign.mark == mark) return reign;
  }
  Reign& oldest = reigns_.back();
  for (const auto& [first, stretch] : oldest.missing) lost_early_ += stretch.last - first + 1;
  oldest = std::exchange(reigns_.front(), Reign{mark, 0, {}});
  return reigns_.front();
}

void LossMeter::note(std::uint64_t number, MonoTime now) {
  const std::uint64_t count = number & count_mask;
  const bool member_before = reigns_.front().mark != 0;
  Reign& reign = reign_of(number >> count_bits);
  // Of its first root a member has got what came since it joined.
  if (reign.highest == 0 && !member_before) reign.highest = count - 1;
  if (count <= reign.highest) return fill(reign, count);
  if (count > reign.highest + 1) {
    if (reign.missing.size() == stretches_max) {
      const auto first = reign.missing.begin();
      lost_early_ += first->second.last - first->first + 1;
      reign.missing.erase(first);
    }
    reign.missing.emplace(reign.highest + 1, Stretch{count - 1, now});
  }
  reign.highest = count;
}

void LossMeter::fill(Reign& reign, std::uint64_t count) {
  auto found = reign.missing.upper_bound(count);
  if (found == reign.missing.begin()) return;
  --found;
  const auto [first, stretch] = *found;
  if (count > stretch.last) return;
  reign.missing.erase(found);
  if (first < count) reign.missing.emplace(first, Stretch{count - 1, stretch.since});
  if (count < stretch.last) reign.missing.emplace(count + 1, stretch);
}

std::uint64_t LossMeter::take_lost(MonoTime missing_since) {
  std::uint64_t lost = std::exchange(lost_early_, 0);
  for (Reign& reign : reigns_) lost += lost_of(reign, missing_since);
  return lost;
}

std::uint64_t LossMeter::lost_of(Reign& reign, MonoTime missing_since) {
  std::uint64_t lost = 0;
  std::erase_if(reign.missing, [&](const auto& entry) {
    if (entry.second.since > missing_since) return false;
    lost += entry.second.last - entry.first + 1;
    return true;
  });
  return lost;
}

MonoTime LossMeter::oldest() const noexcept {
  MonoTime oldest = never;
  for (const Reign& reign : reigns_) {
    for (const auto& [first, stretch] : reign.missing) oldest = std::min(oldest, stretch.since);
  }
  return oldest;
}

}  // namespace canopy::scribe
