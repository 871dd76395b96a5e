#include "canopy-bench/load_plan.hpp"

#include <algorithm>

namespace canopy::tools {

void Tally::add(const Tally& other) {
  latencies.add(other.latencies);
  requests += other.requests;
  messages += other.messages;
}

void Counts::add(const Counts& other) {
  for (int kind = 0; kind < kinds; ++kind) of[kind].add(other.of[kind]);
  for (const auto& [code, count] : other.errors) errors[code] += count;
  empty_receives += other.empty_receives;
  duplicates += other.duplicates;
  foreign += other.foreign;
  disorder += other.disorder;
  unsent += other.unsent;
  seconds = seconds == 0 ? other.seconds : std::min(seconds, other.seconds);
}

void Counts::append(const Counts& other) {
  const double sum = seconds + other.seconds;
  add(other);
  seconds = sum;
}

}  // namespace canopy::tools
