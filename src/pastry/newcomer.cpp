#include "pastry/newcomer.hpp"

#include <algorithm>

namespace canopy::pastry {

namespace {

constexpr unsigned nearer_ones_max = 4;
// The rows of a near peer whose entries are likely to be near as well: many
// peers fit them.
constexpr unsigned near_rows = 2;

}  // namespace

void Newcomer::end_questions() {
  answers_due_ = 0;
  deadline_ = never;
}

bool Newcomer::measuring() const {
  return !measurer_.idle() || prober_.outstanding(goal::distance) > 0;
}

bool Newcomer::advance() {
  if (state_.now() >= deadline_) end_questions();
  if (answers_due_ > 0 || measuring()) return false;
  if (const PeerRef peer = nearer_one()) {
    ask_nearer_one(peer);
  } else if (!rows_asked_) {
    ask_rows();
  }
  return answers_due_ == 0;
}

PeerRef Newcomer::nearer_one() const {
  const auto near = state_.neighborhood.all();
  if (near.empty() || near.front().distance_us >= near_us_) return {};
  if (near_us_ <= distance_of(state_.config.near_enough)) return {};
  return nearer_ones_ < nearer_ones_max ? near.front().peer : PeerRef();
}

void Newcomer::begin_questions() {
  nonce_ = state_.next_nonce();
  deadline_ = state_.now() + state_.config.probe_timeout;
}

void Newcomer::ask(PeerRef peer, wire::StatePart part, unsigned row) {
  ++answers_due_;
  state_.send(peer, wire::StateRequest{
                        .nonce = nonce_, .part = part, .row = static_cast<std::uint8_t>(row)});
}

void Newcomer::ask_nearer_one(PeerRef peer) {
  ++nearer_ones_;
  near_us_ = state_.proximity.distance(peer);
  begin_questions();
  ask(peer, wire::StatePart::neighborhood);
  for (unsigned row = 0; row < near_rows; ++row) ask(peer, wire::StatePart::row, row);
}

// Row 0 is that of the contact.
void Newcomer::ask_rows() {
  rows_asked_ = true;
  begin_questions();
  for (unsigned index = 1; index < state_.table.rows(); ++index) {
    const auto row = state_.table.row(index);
    if (row.empty()) continue;
    const auto closest = std::min_element(row.begin(), row.end(), [](const auto& a, const auto& b) {
      return a.distance_us < b.distance_us;
    });
    ask(closest->peer, wire::StatePart::row, index);
  }
}

bool Newcomer::on_state_reply(const wire::StateReply& reply) {
  if (answers_due_ == 0 || reply.nonce != nonce_) return false;
  if (--answers_due_ == 0) end_questions();
  for (const PeerRef peer : reply.peers) measurer_.add(peer);
  return true;
}

}  // namespace canopy::pastry
