#include "pastry/join_helper.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "pastry/body_peers.hpp"

namespace canopy::pastry {

JoinHelper::Verdict JoinHelper::request(PeerRef joiner, const wire::Routed& message) {
  const Id& id = state_.id(joiner);
  if (!current_ || state_.id(current_) == id) {
    current_ = joiner;
    deadline_ = state_.now() + state_.config.join_help_timeout;
    return Verdict::help;
  }
  const auto same = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return state_.id(waiting.joiner) == id;
  });
  if (same != waiting_.end()) {
    *same = {joiner, message};
    return Verdict::wait;
  }
  if (waiting_.size() >= state_.config.join_queue_max) return Verdict::defer;
  waiting_.push_back({joiner, message});
  return Verdict::wait;
}

bool JoinHelper::finish(PeerRef joiner) {
  if (!current_ || current_ != joiner) return false;
  current_ = {};
  return true;
}

std::vector<wire::Routed> JoinHelper::take_waiting() {
  std::vector<wire::Routed> taken;
  taken.reserve(waiting_.size());
  for (Waiting& waiting : waiting_) taken.push_back(std::move(waiting.message));
  waiting_ = {};
  return taken;
}

std::uint32_t JoinHelper::retry_after_ms() const {
  const auto span =
      std::chrono::duration_cast<std::chrono::milliseconds>(state_.config.join_retry_interval / 4);
  return static_cast<std::uint32_t>(std::max<std::int64_t>(span.count(), 1));
}

void JoinHelper::collect_peers(std::vector<PeerRef>& in_use) const {
  if (current_) in_use.push_back(current_);
  for (const Waiting& waiting : waiting_) {
    in_use.push_back(waiting.joiner);
    collect_body_peers(waiting.message, in_use);
  }
}

}  // namespace canopy::pastry
