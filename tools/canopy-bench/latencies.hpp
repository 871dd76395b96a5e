// Latencies in a histogram of logarithmic buckets: any number of them in 35 KB,
// from a nanosecond to 18 minutes, each within 1 %.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace canopy::tools {

class Latencies {
 public:
  using Time = std::chrono::nanoseconds;

  void record(Time latency) noexcept;
  void add(const Latencies& other) noexcept;

  Time max() const noexcept { return max_; }
  // What the share `q` of them (0 to 1) stays within; 0 if there are none.
  Time quantile(double q) const noexcept;

 private:
  // Each power of two has 128 buckets; the numbers below that have one each.
  static constexpr unsigned precision_bits = 7;
  static constexpr unsigned value_bits = 40;
  static constexpr std::size_t bucket_count = (value_bits - precision_bits + 1) << precision_bits;

  static std::size_t bucket_of(std::uint64_t value) noexcept;
  static std::uint64_t last_of(std::size_t bucket) noexcept;

  std::array<std::uint64_t, bucket_count> buckets_{};
  std::uint64_t count_ = 0;
  Time max_{0};
};

}  // namespace canopy::tools
