#include "pastry/failure_detector.hpp"

#include <algorithm>

namespace canopy::pastry {

MonoTime FailureDetector::heartbeat_due() const {
  if (!state_.leaves.left()) return never;
  const MonoTime told = state_.left_told_at();
  return told == MonoTime::min() ? state_.now() : told + state_.config.heartbeat_interval;
}

MonoTime FailureDetector::suspicion_due() const {
  const PeerRef watched = state_.leaves.right();
  if (!watched || prober_.pending(watched, goal::life | goal::leaves)) return never;
  const auto silence = state_.proximity.silence(watched, state_.now());
  const Duration allowed = state_.config.heartbeat_interval + state_.config.probe_timeout;
  return state_.now() + allowed - silence.value_or(Duration(0));
}

void FailureDetector::tick() {
  const MonoTime now = state_.now();
  if (heartbeat_due() <= now) {
    ++state_.counters.heartbeats_sent;
    state_.send(state_.leaves.left(), wire::Heartbeat{});
  }
  if (suspicion_due() <= now) prober_.probe(state_.leaves.right(), goal::life);
}

MonoTime FailureDetector::deadline() const { return std::min(heartbeat_due(), suspicion_due()); }

void FailureDetector::start_over() {
  const PeerRef watched = state_.leaves.right();
  if (!watched) return;
  state_.proximity.heard(watched, state_.now());
  prober_.probe(watched, goal::life);
}

}  // namespace canopy::pastry
