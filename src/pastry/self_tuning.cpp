#include "pastry/self_tuning.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace canopy::pastry {

namespace {

constexpr std::size_t failures_max = 16;  // K
constexpr std::size_t told_max = 15;      // with the own one an even number

double seconds_of(Duration span) { return std::chrono::duration<double>(span).count(); }

}  // namespace

double estimated_nodes(const LeafSet& leaves, const Id& self) {
  const auto known = static_cast<double>(leaves.size());
  if (!leaves.full()) return known + 1;
  const std::size_t outermost = leaves.side_size() - 1;
  const Id span = leaves.larger(outermost).id - leaves.smaller(outermost).id;
  // The two sides may overlap, or touch, if they hold everybody.
  const bool beyond_half = span.high64() < (leaves.larger(outermost).id - self).high64();
  const double share = std::ldexp(static_cast<double>(span.high64()), -64);
  if (beyond_half || share <= 0) return known + 1;
  return std::max(known / share, known + 1);
}

double expected_hops(double nodes, unsigned b) {
  const double digits = std::exp2(b);
  const double hops = (digits - 1) / digits * std::log2(std::max(nodes, 1.0)) / b;
  return std::max(hops, 1.0);
}

double dead_probability(double seconds, double failures_per_second) {
  const double expected = seconds * failures_per_second;
  constexpr double tiny = 1e-6;  // the series is exact enough here
  return expected < tiny ? expected / 2 : 1 + std::expm1(-expected) / expected;
}

double raw_loss(const Config& config, Duration interval, double hops, double failures_per_second) {
  const double detection = seconds_of(config.probe_timeout) * (config.probe_retries + 1);
  const double leaf =
      dead_probability(seconds_of(config.heartbeat_interval) + detection, failures_per_second);
  const double entry = dead_probability(seconds_of(interval) + detection, failures_per_second);
  return 1 - (1 - leaf) * std::pow(1 - entry, hops - 1);
}

Duration entry_probe_interval(const Config& config, double hops, double failures_per_second) {
  using std::chrono::seconds;
  auto low = std::chrono::ceil<seconds>(config.entry_probe_min);
  auto high = std::max(low, std::chrono::floor<seconds>(config.entry_probe_max));
  while (low < high) {
    const auto middle = high - (high - low) / 2;
    if (raw_loss(config, middle, hops, failures_per_second) <= config.raw_loss_max) {
      low = middle;
    } else {
      high = middle - seconds(1);
    }
  }
  return low;
}

void SelfTuning::start(MonoTime now) { failures_ = {now}; }

void SelfTuning::failed(MonoTime now) {
  if (failures_.size() > failures_max) failures_.erase(failures_.begin());
  failures_.push_back(now);
}

void SelfTuning::told(PeerRef by, std::uint32_t seconds) {
  std::erase_if(told_, [by](const Told& earlier) { return earlier.by == by; });
  if (seconds == 0) return;
  if (told_.size() == told_max) told_.erase(told_.begin());
  told_.push_back({by, seconds});
}

double SelfTuning::failure_rate(MonoTime now, std::size_t watched) const {
  if (failures_.size() < 2 || watched == 0) return 0;
  const double span = std::max(seconds_of(now - failures_.front()), 1.0);
  return static_cast<double>(failures_.size() - 1) / (span * static_cast<double>(watched));
}

void SelfTuning::update(MonoTime now, double nodes, std::size_t watched) {
  const double rate = failure_rate(now, watched);
  if (rate <= 0) return;
  const Duration interval = entry_probe_interval(config_, expected_hops(nodes, config_.b), rate);
  own_seconds_ = static_cast<std::uint32_t>(interval / std::chrono::seconds(1));
}

Duration SelfTuning::interval() const {
  std::vector<std::uint32_t> values;
  if (own_seconds_ != 0) values.push_back(own_seconds_);
  for (const Told& told : told_) values.push_back(told.seconds);
  if (values.empty()) return config_.entry_probe_max;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return std::clamp<Duration>(std::chrono::seconds(*middle), config_.entry_probe_min,
                              config_.entry_probe_max);
}

}  // namespace canopy::pastry
