#include "pastry/joiner.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "base/rare.hpp"

namespace canopy::pastry {

namespace {

constexpr unsigned ask_tries_max = 2;
constexpr unsigned request_sends_max = 3;  // before the first hop is given up
constexpr unsigned requests_max = 4;       // JOINs before another contact is tried
constexpr unsigned deferrals_max = 8;      // likewise
constexpr unsigned doublings_max = 3;
constexpr std::size_t contacts_max = 64;
constexpr std::size_t probes_at_once_max = 32;
constexpr std::uint8_t deepest_row = 0xff;  // the receiver answers with its deepest
constexpr Duration deferral_max = 30s;

}  // namespace

Joiner::Joiner(NodeState& state, wire::Peers contacts) : state_(state) {
  for (const PeerRef contact : contacts) add_contact(contact);
}

void Joiner::start() {
  failures_ = 0;
  begin_attempt();
}

void Joiner::add_contact(PeerRef peer) {
  if (!peer || state_.is_self(peer)) return;
  if (std::find(contacts_.begin(), contacts_.end(), peer) != contacts_.end()) return;
  if (contacts_.size() < contacts_max) {
    contacts_.push_back(peer);
  } else {
    contacts_[next_contact_ % contacts_max] = peer;
  }
  // A rest for want of contacts ends with the first one.
  if (contacts_.size() == 1 && step_ == Step::resting && deadline_ != never) begin_attempt();
}

void Joiner::rest(Duration span, Step then) {
  step_ = Step::resting;
  after_rest_ = then;
  deadline_ = state_.now() + state_.env.random().jittered(span, 0.5);
}

void Joiner::fail(std::string_view reason) {
  const unsigned doublings = std::min(failures_, doublings_max);
  ++failures_;
  rare<"joining: begun anew">();
  ++state_.counters.join_restarts;
  contacts_failed_ = 0;
  stalled(reason);
  rest(state_.config.join_retry_interval * (1 << doublings) / 8, Step::asking);
}

void Joiner::begin_attempt() {
  if (contacts_.empty()) {
    fail("no contact is known: give the address of a peer that runs");
    return;
  }
  near_ = contacts_[next_contact_++ % contacts_.size()];
  near_distance_us_ = unknown_distance;
  probes_.clear();
  measured_.clear();
  candidates_.clear();
  request_nonces_.clear();
  stage_ = Stage::leaf_set;
  tries_ = deferrals_ = 0;
  ask();
}

void Joiner::ask() {
  step_ = Step::asking;
  ++tries_;
  ask_nonce_ = state_.next_nonce();
  asked_at_ = state_.now();
  deadline_ = asked_at_ + state_.config.hop_ack_timeout_max;
  wire::StateRequest request{.nonce = ask_nonce_};
  if (stage_ == Stage::rows) {
    request.part = wire::StatePart::row;
    request.row = row_;
  } else if (stage_ == Stage::neighborhood) {
    request.part = wire::StatePart::neighborhood;
  }
  state_.send(near_, request);
}

bool Joiner::on_state_reply(PeerRef from, const wire::StateReply& reply) {
  if (step_ != Step::asking || reply.nonce != ask_nonce_ || from != near_) return false;
  contacts_failed_ = 0;
  note(near_, state_.now() - asked_at_);
  if (near_distance_us_ <= distance_of(state_.config.near_enough)) {
    request();
    return true;
  }
  if (reply.part == wire::StatePart::row) {
    const unsigned last_row = state_.config.id_bits / state_.config.b - 1;
    row_ = static_cast<std::uint8_t>(std::min<unsigned>(reply.row, last_row));
  }
  if (reply.part == wire::StatePart::neighborhood) {
    candidates_.insert(candidates_.end(), reply.peers.begin(), reply.peers.end());
  }
  measure(reply.peers);
  return true;
}

void Joiner::note(PeerRef peer, Duration round_trip) {
  const std::uint32_t distance = distance_of(round_trip);
  const auto at = std::find_if(measured_.begin(), measured_.end(),
                               [peer](const Measured& m) { return m.peer == peer; });
  if (at == measured_.end()) {
    measured_.push_back({peer, distance});
  } else {
    at->distance_us = std::min(at->distance_us, distance);
  }
  if (peer == near_) near_distance_us_ = std::min(near_distance_us_, distance);
}

bool Joiner::known(PeerRef peer) const {
  return state_.is_self(peer) ||
         std::any_of(measured_.begin(), measured_.end(),
                     [peer](const Measured& m) { return m.peer == peer; }) ||
         std::any_of(probes_.begin(), probes_.end(),
                     [peer](const OpenProbe& probe) { return probe.peer == peer; });
}

void Joiner::measure(const wire::Peers& peers) {
  std::size_t sent = 0;
  for (const PeerRef peer : peers) {
    if (known(peer) || sent == probes_at_once_max) continue;
    probes_.push_back({peer, state_.next_nonce(), state_.now()});
    state_.send(peer, wire::Probe{probes_.back().nonce});
    ++sent;
  }
  if (sent == 0) {
    search_on();
    return;
  }
  step_ = Step::measuring;
  // Whoever answers later than this is farther than the nearest known.
  deadline_ =
      state_.now() + std::min(Duration(near_distance_us_), state_.config.hop_ack_timeout_max);
}

bool Joiner::on_probe_reply(PeerRef from, const wire::ProbeReply& reply) {
  const auto at = std::find_if(probes_.begin(), probes_.end(), [&](const OpenProbe& probe) {
    return probe.nonce == reply.nonce && probe.peer == from;
  });
  if (at == probes_.end()) return false;
  const Duration round_trip = state_.now() - at->sent;
  probes_.erase(at);
  note(from, round_trip);
  if (step_ == Step::measuring && distance_of(round_trip) < near_distance_us_) {
    near_ = from;
    near_distance_us_ = distance_of(round_trip);
    search_on();
  }
  return true;
}

void Joiner::search_on() {
  tries_ = 0;
  switch (stage_) {
    case Stage::leaf_set:
      stage_ = Stage::rows;
      row_ = deepest_row;
      break;
    case Stage::rows:
      if (row_ == 0) {
        stage_ = Stage::neighborhood;
      } else {
        --row_;
      }
      break;
    case Stage::neighborhood:
    case Stage::done: stage_ = Stage::done; break;
  }
  if (stage_ == Stage::done) {
    request();
  } else {
    ask();
  }
}

void Joiner::request() {
  step_ = Step::requesting;
  stage_ = Stage::done;
  if (request_nonces_.size() == requests_max) {
    fail("the peer responsible for this node's id does not answer its JOIN");
    return;
  }
  request_nonces_.push_back(state_.next_nonce());
  tries_ = 0;
  acked_ = false;
  ++state_.counters.join_requests_sent;
  send_request();
}

void Joiner::send_request() {
  ++tries_;
  const std::uint32_t nonce = request_nonces_.back();
  wire::Routed message;
  message.key = state_.self_id;
  message.hops = 1;
  message.body =
      std::make_shared<const wire::RoutedBody>(wire::JoinRequest{state_.self, nonce, {}});
  const Config& config = state_.config;
  if (config.maintenance) {
    message.hop_id = nonce;
    const Duration overdue = near_distance_us_ == unknown_distance
                                 ? config.hop_ack_timeout_max
                                 : Duration(near_distance_us_) * 3;
    deadline_ =
        state_.now() +
        std::clamp(overdue, config.hop_ack_timeout_min, config.hop_ack_timeout_max) * tries_;
  } else {
    deadline_ = state_.now() + config.join_retry_interval;
  }
  state_.send(near_, std::move(message));
}

bool Joiner::on_hop_ack(PeerRef from, std::uint32_t hop_id) {
  if (step_ != Step::requesting || from != near_ || hop_id != request_nonces_.back()) return false;
  acked_ = true;
  const auto doublings = static_cast<unsigned>(request_nonces_.size() - 1);
  deadline_ = state_.now() + state_.env.random().jittered(
                                 state_.config.join_retry_interval * (1 << doublings), 0.25);
  return true;
}

bool Joiner::on_deferred(PeerRef from, const wire::JoinDeferred& deferred) {
  const bool asked = step_ == Step::asking && deferred.nonce == ask_nonce_ && from == near_;
  const bool requested = step_ == Step::requesting && deferred.nonce == request_nonces_.back();
  if (!asked && !requested) return false;
  const Duration span =
      std::clamp<Duration>(std::chrono::milliseconds(deferred.retry_after_ms), 10ms, deferral_max);
  if (deferred.retry_after_ms == 0) {
    stalled("another live peer has this node's id: choose another name");
    rest(state_.config.join_retry_interval, Step::asking);
  } else if (asked) {
    stalled("the contact is not a member of a ring yet");
    rest(span, Step::asking);
  } else {
    request_nonces_.clear();
    rest(span, ++deferrals_ < deferrals_max ? Step::requesting : Step::asking);
  }
  return true;
}

bool Joiner::on_join_reply(PeerRef from, const wire::JoinReply& reply) {
  if (step_ != Step::requesting && step_ != Step::resting) return false;
  if (std::find(request_nonces_.begin(), request_nonces_.end(), reply.nonce) ==
      request_nonces_.end()) {
    return false;
  }
  step_ = Step::probing;
  told_ = {};
  deadline_ = never;
  helper_ = from;
  helper_nonce_ = reply.nonce;
  for (const wire::TableRow& row : reply.rows) {
    candidates_.insert(candidates_.end(), row.peers.begin(), row.peers.end());
  }
  return true;
}

void Joiner::unreachable(PeerRef peer) {
  std::erase_if(probes_, [peer](const OpenProbe& probe) { return probe.peer == peer; });
  const bool waiting = step_ == Step::asking || (step_ == Step::requesting && !acked_);
  if (peer == near_ && waiting) pass_over_contact("the contact cannot be reached");
}

void Joiner::pass_over_contact(std::string_view reason) {
  std::erase_if(measured_, [this](const Measured& m) { return m.peer == near_; });
  if (!measured_.empty()) {
    // The search had come further than the contact: go on from the next nearest.
    const auto best = std::min_element(
        measured_.begin(), measured_.end(),
        [](const Measured& a, const Measured& b) { return a.distance_us < b.distance_us; });
    near_ = best->peer;
    near_distance_us_ = best->distance_us;
    request();
    return;
  }
  if (++contacts_failed_ >= contacts_.size()) {
    fail(reason);
  } else {
    begin_attempt();
  }
}

void Joiner::tick() {
  if (state_.now() < deadline_) return;
  switch (step_) {
    case Step::resting:
      if (after_rest_ == Step::requesting) {
        request();
      } else {
        begin_attempt();
      }
      break;
    case Step::asking:
      if (tries_ < ask_tries_max) {
        ask();
      } else {
        pass_over_contact("no contact answers");
      }
      break;
    case Step::measuring: search_on(); break;
    case Step::requesting:
      if (acked_ || !state_.config.maintenance) {
        request();
      } else if (tries_ < request_sends_max) {
        send_request();
      } else {
        pass_over_contact("no contact answers");
      }
      break;
    case Step::probing: deadline_ = never; break;
  }
}

// A contact that is no member says so ten times a second.
void Joiner::stalled(std::string_view reason) {
  if (reason != told_) stall_ = told_ = reason;
}

std::optional<std::string_view> Joiner::take_stall() noexcept {
  return std::exchange(stall_, std::nullopt);
}

void Joiner::collect_peers(std::vector<PeerRef>& in_use) const {
  in_use.insert(in_use.end(), contacts_.begin(), contacts_.end());
  in_use.insert(in_use.end(), candidates_.begin(), candidates_.end());
  for (const Measured& m : measured_) in_use.push_back(m.peer);
  for (const OpenProbe& probe : probes_) in_use.push_back(probe.peer);
  if (near_) in_use.push_back(near_);
  if (helper_) in_use.push_back(helper_);
}

}  // namespace canopy::pastry
