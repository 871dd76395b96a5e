#include "pastry/meeting.hpp"

#include <algorithm>

namespace canopy::pastry {

namespace {

constexpr unsigned asked_max = 64;  // more than the digits of an id, and some leaf sets
constexpr unsigned question_tries_max = 2;

}  // namespace

void Meeting::start(PeerRef from) {
  if (near_ || state_.is_self(from)) return;
  near_ = from;
  by_rows_ = true;
  asked_ = tries_ = 0;
  go_on();
}

void Meeting::clear() noexcept {
  near_ = {};
  way_ = {};
  silent_ = {};
  nonce_ = 0;
  deadline_ = never;
}

void Meeting::go_on() {
  if (state_.leaves.contains(near_) || asked_ == asked_max) return clear();
  ask();
}

void Meeting::ask() {
  ++asked_;
  ++tries_;
  nonce_ = state_.next_nonce();
  deadline_ = state_.now() + state_.config.probe_timeout;
  wire::StateRequest request{.nonce = nonce_};
  if (by_rows_) {
    request.part = wire::StatePart::row;
    request.row = static_cast<std::uint8_t>(
        shared_prefix_length(state_.self_id, state_.id(near_), state_.config.b));
  }
  state_.send(near_, request);
}

// The peer that is asked, if it names nobody closer.
PeerRef Meeting::closest_of(const wire::Peers& peers) const {
  PeerRef closest = near_;
  for (const PeerRef peer : peers) {
    if (state_.is_self(peer) || state_.departed.in_quarantine(peer, state_.now())) continue;
    if (std::ranges::find(silent_, peer) != silent_.end()) continue;
    if (closer_to(state_.self_id, state_.id(peer), state_.id(closest))) closest = peer;
  }
  return closest;
}

bool Meeting::on_state_reply(PeerRef from, const wire::StateReply& reply) {
  if (!near_ || from != near_ || reply.nonce != nonce_) return false;
  tries_ = 0;
  const PeerRef closest = closest_of(reply.peers);
  if (closest != near_) {
    way_.push_back(near_);
    near_ = closest;
    go_on();
  } else if (by_rows_) {
    by_rows_ = false;
    go_on();
  } else {
    clear();
    prober_.probe(closest, goal::leaves);
  }
  return true;
}

void Meeting::tick() {
  if (deadline_ > state_.now()) return;
  if (tries_ < question_tries_max) return go_on();
  step_back();
}

void Meeting::step_back() {
  silent_.push_back(near_);
  if (way_.empty()) return clear();
  near_ = way_.back();
  way_.pop_back();
  tries_ = 0;
  go_on();
}

void Meeting::collect_peers(std::vector<PeerRef>& in_use) const {
  if (near_) in_use.push_back(near_);
  in_use.insert(in_use.end(), way_.begin(), way_.end());
  in_use.insert(in_use.end(), silent_.begin(), silent_.end());
}

}  // namespace canopy::pastry
