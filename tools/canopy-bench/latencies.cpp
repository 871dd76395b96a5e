#include "canopy-bench/latencies.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace canopy::tools {

std::size_t Latencies::bucket_of(std::uint64_t value) noexcept {
  const auto bits = static_cast<unsigned>(std::bit_width(value));
  const unsigned shift = bits > precision_bits + 1 ? bits - precision_bits - 1 : 0;
  return (std::size_t{shift} << precision_bits) + (value >> shift);
}

std::uint64_t Latencies::last_of(std::size_t bucket) noexcept {
  const std::size_t power = bucket >> precision_bits;
  const std::size_t shift = power > 1 ? power - 1 : 0;
  return ((bucket - (shift << precision_bits) + 1) << shift) - 1;
}

void Latencies::record(Time latency) noexcept {
  constexpr std::int64_t value_max = (std::int64_t{1} << value_bits) - 1;
  const auto value = std::clamp<std::int64_t>(latency.count(), 0, value_max);
  ++buckets_[bucket_of(static_cast<std::uint64_t>(value))];
  ++count_;
  max_ = std::max(max_, latency);
}

void Latencies::add(const Latencies& other) noexcept {
  for (std::size_t i = 0; i < bucket_count; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Latencies::Time Latencies::quantile(double q) const noexcept {
  const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    below += buckets_[i];
    if (below >= std::max<std::uint64_t>(rank, 1))
      return std::min(max_, Time(static_cast<std::int64_t>(last_of(i))));
  }
  return max_;
}

}  // namespace canopy::tools
