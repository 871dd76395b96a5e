#include "pastry/newcomer.hpp"

#include <algorithm>

namespace canopy::pastry {

namespace {

constexpr std::size_t nearest_asked_at_once = 3;
constexpr std::size_t nearest_asked_max = 8;
constexpr std::size_t asked_in_row = 2;

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
  ask_nearest();
  if (answers_due_ == 0 && !rows_asked_) ask_rows();
  return answers_due_ == 0;
}

bool Newcomer::asked(PeerRef peer) const {
  return std::find(nearest_asked_.begin(), nearest_asked_.end(), peer) != nearest_asked_.end();
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

// One that is nearer than all before also for its first row, whose entries are
// likely to be near as well: many peers fit them.
void Newcomer::ask_nearest() {
  if (near_us_ <= distance_of(state_.config.near_enough)) return;
  const auto near = state_.neighborhood.all();
  for (const auto& neighbor : near.first(std::min(near.size(), nearest_asked_at_once))) {
    if (asked(neighbor.peer)) continue;
    if (nearest_asked_.size() == nearest_asked_max) return;
    if (answers_due_ == 0) begin_questions();
    nearest_asked_.push_back(neighbor.peer);
    ask(neighbor.peer, wire::StatePart::neighborhood);
    if (neighbor.distance_us < near_us_) {
      near_us_ = neighbor.distance_us;
      ask(neighbor.peer, wire::StatePart::row, 0);
    }
  }
}

// Row 0 is that of the contact.
void Newcomer::ask_rows() {
  rows_asked_ = true;
  begin_questions();
  for (unsigned index = 1; index < state_.table.rows(); ++index) {
    for (const PeerRef peer : state_.table.closest_in_row(index, asked_in_row)) {
      ask(peer, wire::StatePart::row, index);
    }
  }
}

bool Newcomer::on_state_reply(const wire::StateReply& reply) {
  if (answers_due_ == 0 || reply.nonce != nonce_) return false;
  if (--answers_due_ == 0) end_questions();
  for (const PeerRef peer : reply.peers) measurer_.add(peer);
  return true;
}

void Newcomer::collect_peers(std::vector<PeerRef>& in_use) const {
  in_use.insert(in_use.end(), nearest_asked_.begin(), nearest_asked_.end());
}

}  // namespace canopy::pastry
