#include "scribe/neighbors.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace canopy::scribe {

namespace {

// Multicasts stand in for this many heartbeats at most, less one.
constexpr int full_heartbeat_every = 5;
// Two heartbeats with no word under way show that one was lost; where words are
// always under way, so many do.
constexpr std::uint8_t words_mismatches_max = 8;
constexpr std::uint8_t quiet_mismatch = words_mismatches_max / 2;

// Whether this view of the sender's has now differed twice in a row.
bool lasting(std::uint8_t& mismatches, bool same) noexcept {
  if (same) {
    mismatches = 0;
    return false;
  }
  if (++mismatches < 2) return false;
  mismatches = 0;
  return true;
}

}  // namespace

EdgeSet& Neighbors::edges(Neighbor& neighbor, Side side) noexcept {
  return side == Side::parent_of ? neighbor.parent_of : neighbor.child_of;
}

void Neighbors::add(PeerRef peer, Side side, const Edge& edge, MonoTime now) {
  const auto place = std::ranges::lower_bound(table_, peer, {}, &Neighbor::peer);
  const bool known = place != table_.end() && place->peer == peer;
  Neighbor& neighbor = known ? *place : *table_.insert(place, Neighbor{});
  neighbor.peer = peer;
  EdgeSet& set = edges(neighbor, side);
  if (side == Side::parent_of) {
    ++children_entries_;
    neighbor.heard_child = now;
    // The JoinAck that goes with it is a sign of life; the first heartbeat
    // follows after the usual interval.
    neighbor.sent = now;
    if (set.empty()) neighbor.told = now;
  } else {
    heard(neighbor, now);
    if (set.empty() && neighbor.parent_of.empty()) neighbor.told = now;
  }
  set.add(edge);
  next_deadline_ = std::min(next_deadline_, deadline_of(neighbor));
}

void Neighbors::remove(PeerRef peer, Side side, const Edge& edge) {
  const auto place = std::ranges::lower_bound(table_, peer, {}, &Neighbor::peer);
  CANOPY_ASSERT(place != table_.end() && place->peer == peer);
  EdgeSet& set = edges(*place, side);
  CANOPY_ASSERT(!set.empty());
  set.remove(edge);
  if (side == Side::parent_of) --children_entries_;
  if (place->parent_of.empty() && place->child_of.empty()) table_.erase(place);
}

void Neighbors::change(PeerRef peer, Side side, const Edge& before, const Edge& after) {
  Neighbor* neighbor = find(peer);
  CANOPY_ASSERT(neighbor && !edges(*neighbor, side).empty());
  edges(*neighbor, side).remove(before);
  edges(*neighbor, side).add(after);
}

void Neighbors::sent_to(PeerRef peer, MonoTime now) noexcept {
  if (Neighbor* neighbor = find(peer)) neighbor->sent = now;
}

void Neighbors::heard_from_parent(PeerRef peer, MonoTime now) noexcept {
  if (Neighbor* neighbor = find(peer)) heard(*neighbor, now);
}

void Neighbors::heard(Neighbor& neighbor, MonoTime now) const noexcept {
  neighbor.traffic.heard(now - neighbor.heard_parent, config_.heartbeat_interval);
  neighbor.heard_parent = now;
  neighbor.doubted = false;
}

void Neighbors::start_over(MonoTime now) noexcept {
  for (Neighbor& neighbor : table_) {
    neighbor.heard_parent = neighbor.heard_child = now;
    neighbor.doubted = false;
    neighbor.traffic.listen_anew();
  }
}

Neighbors::Mismatch Neighbors::on_heartbeat(PeerRef from, const wire::TreeHeartbeat& heartbeat,
                                            MonoTime now) {
  const EdgeSet their_parent_of{heartbeat.parent_hash, heartbeat.parent_count,
                                heartbeat.parent_words};
  const EdgeSet their_child_of{heartbeat.child_hash, heartbeat.child_count};
  Neighbor* neighbor = find(from);
  if (!neighbor) {
    // Nothing is shared, so nothing can be lost by speaking up at once.
    return {.parent_of = !their_child_of.empty(), .child_of = !their_parent_of.empty()};
  }
  if (!their_parent_of.empty()) heard(*neighbor, now);
  if (!their_child_of.empty()) neighbor->heard_child = now;
  return {.parent_of = lasting(neighbor->parent_of_mismatches,
                               neighbor->parent_of.same_edges(their_child_of)),
          .child_of = lasting(neighbor->child_of_mismatches,
                              neighbor->child_of.same_edges(their_parent_of)),
          .words = words_lost(*neighbor, their_parent_of)};
}

bool Neighbors::words_lost(Neighbor& neighbor, const EdgeSet& theirs) noexcept {
  const EdgeSet& own = neighbor.child_of;
  const bool quiet = !neighbor.words_sent;
  neighbor.words_sent = false;
  if (theirs.words == 0 || !own.same_edges(theirs) || own.words == theirs.words) {
    neighbor.words_mismatches = 0;
    return false;
  }
  neighbor.words_mismatches += quiet ? quiet_mismatch : 1;
  if (neighbor.words_mismatches < words_mismatches_max) return false;
  neighbor.words_mismatches = 0;
  return true;
}

void Neighbors::word_sent_to(PeerRef peer) noexcept {
  if (Neighbor* neighbor = find(peer)) neighbor->words_sent = true;
}

wire::TreeHeartbeat Neighbors::heartbeat_for(PeerRef peer) const noexcept {
  const Neighbor* neighbor = find(peer);
  if (!neighbor) return {};
  return {.parent_hash = neighbor->parent_of.hash,
          .parent_count = neighbor->parent_of.count,
          .child_hash = neighbor->child_of.hash,
          .child_count = neighbor->child_of.count,
          .parent_words = neighbor->parent_of.words};
}

Neighbors::Due Neighbors::take_due(MonoTime now) {
  Due due;
  if (now < next_deadline_) return due;
  if (now > next_deadline_ + config_.heartbeat_interval) start_over(now);
  next_deadline_ = never;
  // What would be due soon goes along: neighbours fall into step, and the node
  // wakes once an interval rather than once a neighbour.
  const MonoTime soon = now + config_.heartbeat_interval / 4;
  for (Neighbor& neighbor : table_) {
    if (heartbeat_due(neighbor) <= soon) {
      due.heartbeats.push_back(neighbor.peer);
      const auto intervals = (now - neighbor.told) / config_.heartbeat_interval;
      if (!neighbor.parent_of.empty() && intervals > 1) {
        due.suppressed += static_cast<std::uint64_t>(intervals - 1);
      }
      neighbor.sent = neighbor.told = now;
    }
    watch_traffic(neighbor, now, due);
    if (parent_doubtful_at(neighbor) <= now) {
      due.doubtful_parents.push_back(neighbor.peer);
      neighbor.doubted = true;
    }
    if (parent_silent_at(neighbor) <= now) {
      due.silent_parents.push_back(neighbor.peer);
      heard(neighbor, now);
    }
    if (child_silent_at(neighbor) <= now) {
      due.silent_children.push_back(neighbor.peer);
      neighbor.heard_child = now;
    }
    next_deadline_ = std::min(next_deadline_, deadline_of(neighbor));
  }
  return due;
}

void Neighbors::watch_traffic(Neighbor& neighbor, MonoTime now, Due& due) const {
  if (parent_quiet_at(neighbor) <= now) {
    due.quiet_parents.push_back(neighbor.peer);
    neighbor.traffic.ask(now);
  } else if (neighbor.traffic.answer_due(config_.heartbeat_interval) <= now) {
    due.mute_parents.push_back(neighbor.peer);
    neighbor.traffic.conclude();
  }
}

std::size_t Neighbors::edges_from(PeerRef parent) const noexcept {
  const Neighbor* neighbor = find(parent);
  return neighbor ? neighbor->child_of.count : 0;
}

void Neighbors::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Neighbor& neighbor : table_) in_use.push_back(neighbor.peer);
}

Neighbors::Neighbor* Neighbors::find(PeerRef peer) noexcept {
  const auto place = std::ranges::lower_bound(table_, peer, {}, &Neighbor::peer);
  return place != table_.end() && place->peer == peer ? &*place : nullptr;
}

const Neighbors::Neighbor* Neighbors::find(PeerRef peer) const noexcept {
  const auto place = std::ranges::lower_bound(table_, peer, {}, &Neighbor::peer);
  return place != table_.end() && place->peer == peer ? &*place : nullptr;
}

MonoTime Neighbors::heartbeat_due(const Neighbor& neighbor) const noexcept {
  if (!neighbor.parent_of.empty()) {
    return std::min(neighbor.sent + config_.heartbeat_interval,
                    neighbor.told + full_heartbeat_every * config_.heartbeat_interval);
  }
  return neighbor.told + config_.child_refresh_interval;
}

MonoTime Neighbors::parent_missed_at(const Neighbor& neighbor, unsigned heartbeats) const noexcept {
  if (neighbor.child_of.empty()) return never;
  // A quarter on top, for a parent whose heartbeats fall into step with others.
  return neighbor.heard_parent + heartbeats * config_.heartbeat_interval +
         config_.heartbeat_interval / 4;
}

MonoTime Neighbors::parent_doubtful_at(const Neighbor& neighbor) const noexcept {
  if (neighbor.doubted || config_.heartbeats_missed < 2) return never;
  return parent_missed_at(neighbor, config_.heartbeats_missed - 1);
}

MonoTime Neighbors::parent_silent_at(const Neighbor& neighbor) const noexcept {
  return parent_missed_at(neighbor, config_.heartbeats_missed);
}

MonoTime Neighbors::parent_quiet_at(const Neighbor& neighbor) const noexcept {
  if (neighbor.child_of.empty()) return never;
  return neighbor.traffic.quiet_at(neighbor.heard_parent, config_.heartbeat_interval);
}

MonoTime Neighbors::child_silent_at(const Neighbor& neighbor) const noexcept {
  return neighbor.parent_of.empty() ? never : neighbor.heard_child + config_.child_expiry;
}

MonoTime Neighbors::deadline_of(const Neighbor& neighbor) const noexcept {
  return std::min({heartbeat_due(neighbor), parent_quiet_at(neighbor),
                   neighbor.traffic.answer_due(config_.heartbeat_interval),
                   parent_doubtful_at(neighbor), parent_silent_at(neighbor),
                   child_silent_at(neighbor)});
}

}  // namespace canopy::scribe
