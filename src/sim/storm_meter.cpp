#include "sim/storm_meter.hpp"

#include <algorithm>
#include <chrono>
#include <variant>

namespace canopy::sim {

namespace {

bool is_probe(const wire::Message& message) {
  if (const auto* relay = std::get_if<wire::Relay>(&message)) return is_probe(*relay->message);
  if (const auto* probe = std::get_if<wire::LeafProbe>(&message)) return !probe->reply;
  return std::holds_alternative<wire::Probe>(message);
}

}  // namespace

void StormMeter::Count::add(NodeIndex node) {
  if (node >= by_node.size()) by_node.resize(node + 1);
  ++by_node[node];
  ++all;
}

void StormMeter::Count::close() {
  if (all == 0) return;
  peak.all = std::max(peak.all, all);
  peak.one_node = std::max<std::uint64_t>(peak.one_node, std::ranges::max(by_node));
  std::ranges::fill(by_node, 0);
  all = 0;
}

void StormMeter::begin() {
  close_second();
  probes_.peak = messages_.peak = {};
}

void StormMeter::close_second() {
  probes_.close();
  messages_.close();
}

const StormMeter::Peak& StormMeter::probes() {
  close_second();
  return probes_.peak;
}

const StormMeter::Peak& StormMeter::messages() {
  close_second();
  return messages_.peak;
}

void StormMeter::sent(NodeIndex from, NodeIndex, const wire::Message& message) {
  const auto now = simulation_.now().time_since_epoch();
  const std::int64_t second = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  if (second != second_) close_second();
  second_ = second;
  messages_.add(from);
  if (is_probe(message)) probes_.add(from);
}

}  // namespace canopy::sim
