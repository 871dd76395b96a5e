#include "pastry/table_repair.hpp"

#include <algorithm>
#include <utility>

namespace canopy::pastry {

namespace {

constexpr std::size_t holes_max = 32;
constexpr std::uint8_t asked_in_row_max = 3;
constexpr std::uint8_t asked_in_next_row_max = 2;

}  // namespace

void TableRepair::start(RoutingTable::Slot slot) {
  if (holes_.size() >= holes_max) return;
  if (std::any_of(holes_.begin(), holes_.end(),
                  [&](const Hole& hole) { return hole.slot == slot; })) {
    return;
  }
  Hole hole;
  hole.slot = slot;
  if (!ask(hole)) return;
  ++state_.counters.table_repairs;
  holes_.push_back(hole);
  settle_deadline();
}

PeerRef TableRepair::whom_to_ask(const Hole& hole) const {
  const auto row = state_.table.row(hole.slot.row);
  const std::size_t in_row = std::min<std::size_t>(row.size(), asked_in_row_max);
  if (hole.asked < in_row) return row[hole.asked].peer;
  const auto next = state_.table.row(hole.slot.row + 1);
  const std::size_t in_next = std::min<std::size_t>(next.size(), asked_in_next_row_max);
  const std::size_t index = hole.asked - in_row;
  return index < in_next ? next[index].peer : PeerRef();
}

bool TableRepair::ask(Hole& hole) {
  const PeerRef peer = whom_to_ask(hole);
  if (!peer) return false;
  ++hole.asked;
  hole.nonce = state_.next_nonce();
  hole.deadline = state_.now() + state_.config.probe_timeout;
  state_.send(peer, wire::StateRequest{hole.nonce, wire::StatePart::entry,
                                       static_cast<std::uint8_t>(hole.slot.row),
                                       static_cast<std::uint8_t>(hole.slot.column)});
  return true;
}

bool TableRepair::on_state_reply(PeerRef, const wire::StateReply& reply) {
  const auto hole = std::find_if(holes_.begin(), holes_.end(),
                                 [&](const Hole& open) { return open.nonce == reply.nonce; });
  if (hole == holes_.end()) return false;
  bool found = false;
  for (const PeerRef peer : reply.peers) found = measurer_.add(peer) || found;
  if (found || !ask(*hole)) holes_.erase(hole);
  settle_deadline();
  return true;
}

void TableRepair::tick() {
  const MonoTime now = state_.now();
  if (deadline_ > now) return;
  std::vector<Hole> open;
  for (Hole& hole : holes_) {
    if (hole.deadline > now || ask(hole)) open.push_back(hole);
  }
  holes_ = std::move(open);
  settle_deadline();
}

void TableRepair::clear() noexcept {
  holes_.clear();
  deadline_ = never;
}

void TableRepair::settle_deadline() noexcept {
  deadline_ = never;
  for (const Hole& hole : holes_) deadline_ = std::min(deadline_, hole.deadline);
}

}  // namespace canopy::pastry
