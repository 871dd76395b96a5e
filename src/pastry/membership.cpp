// Who belongs to the ring, as one node sees it: its own activation, the help it
// gives to joiners, and how peers enter and leave its sets.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.hpp"
#include "pastry/pastry.hpp"
#include "pastry/planted_bug.hpp"

namespace canopy::pastry {

namespace {

constexpr std::size_t rows_max = 64;  // that a JOIN carries
constexpr int lease_margin = 20;      // clocks may differ by one part in as many

// Whether the id is in the leaf set for the other side than the one that it is on: the
// nearest of its own side fill that. So it is in small rings, or where the other side
// is not known.
bool crosses(const LeafSet& leaves, const Id& self, const Id& id) {
  const bool larger = on_larger_half(self, id);
  const Id distance = larger ? id - self : self - id;
  const auto nearer = std::ranges::count_if(leaves.all(), [&](const Leaf& leaf) {
    return on_larger_half(self, leaf.id) == larger &&
           (larger ? leaf.id - self : self - leaf.id) < distance;
  });
  return static_cast<std::size_t>(nearer) >= leaves.capacity() / 2;
}

}  // namespace

bool Pastry::member() const noexcept {
  return state_.active || (joiner_ && joiner_->step() == Joiner::Step::probing);
}

// --- Becoming active ---

void Pastry::check_join() {
  if (!joiner_ || joiner_->step() != Joiner::Step::probing) return;
  if (prober_.outstanding(goal::leaves) != 0) return;
  if (state_.leaves.empty()) {
    joiner_->fail("none of the peers around this node's id answers");
  } else {
    become_active();
  }
}

void Pastry::become_active() {
  const std::unique_ptr<Joiner> joiner = std::move(joiner_);
  state_.active = true;
  leaf_set_changed_ = false;
  if (joiner) {
    if (joiner->helper()) state_.send(joiner->helper(), wire::JoinDone{joiner->helper_nonce()});
    for (const Joiner::Measured& measured : joiner->measured()) {
      state_.measured(measured.peer, Duration(measured.distance_us));
      state_.offer_measured(measured.peer);
    }
  }
  if (state_.config.maintenance) maintenance_.start();
  application_.activated();
  release_held();
  if (!joiner) return;
  announce();
  for (const PeerRef peer : joiner->candidates()) measurer_.add(peer);
  newcomer_ = std::make_unique<Newcomer>(state_, prober_, measurer_, joiner->near_distance_us());
}

// Every neighbour whose distance is known learns it, and with it of this node.
void Pastry::announce() {
  std::vector<PeerRef> known;
  state_.proximity.collect_peers(known);
  for (const PeerRef peer : known) {
    const std::uint32_t distance = state_.proximity.distance(peer);
    if (distance == unknown_distance || !state_.holds(peer)) continue;
    state_.send(peer, wire::DistanceReport{distance});
  }
}

// Constrained gossip: each member of a row is told that row.
void Pastry::announce_rows() {
  for (unsigned index = 0; index < state_.table.rows(); ++index) {
    const auto row = state_.table.row(index);
    wire::RowAnnounce announcement{{static_cast<std::uint8_t>(index), {}}};
    for (const auto& entry : row) announcement.row.peers.push_back(entry.peer);
    for (const auto& entry : row) state_.send(entry.peer, announcement);
    state_.counters.rows_announced += row.size();
  }
}

void Pastry::probe_all_leaves() {
  for (const Leaf& leaf : state_.leaves.all()) prober_.probe_with_news(leaf.peer);
}

// --- Helping joiners ---

void Pastry::add_rows(wire::JoinRequest& request) const {
  const unsigned b = state_.config.b;
  const Id& joiner = state_.id(request.joiner);
  const unsigned shared = shared_prefix_length(state_.self_id, joiner, b);
  const unsigned first = request.rows.empty() ? 0 : request.rows.back().row + 1U;
  for (unsigned index = first; index <= shared && request.rows.size() < rows_max; ++index) {
    wire::TableRow row{static_cast<std::uint8_t>(index), {}};
    for (const auto& entry : state_.table.row(index)) {
      if (state_.id(entry.peer) != joiner) row.peers.push_back(entry.peer);
    }
    if (index == shared) row.peers.push_back(state_.self);
    request.rows.push_back(std::move(row));
  }
}

void Pastry::help_join(const wire::Routed& message) {
  const auto& request = std::get<wire::JoinRequest>(*message.body);
  switch (helper_.request(request.joiner, message)) {
    case JoinHelper::Verdict::help: {
      ++state_.counters.joins_helped;
      wire::JoinReply reply{request.nonce, {}, request.rows};
      for (const Leaf& leaf : state_.leaves.all()) {
        if (leaf.id != state_.id(request.joiner)) reply.leaves.push_back(leaf.peer);
      }
      state_.send(request.joiner, std::move(reply));
      break;
    }
    case JoinHelper::Verdict::wait: ++state_.counters.joins_queued; break;
    case JoinHelper::Verdict::defer:
      ++state_.counters.joins_deferred;
      state_.send(request.joiner, wire::JoinDeferred{request.nonce, helper_.retry_after_ms()});
      break;
  }
}

void Pastry::finish_help(PeerRef joiner) {
  if (!helper_.finish(joiner)) return;
  for (wire::Routed& waiting : helper_.take_waiting()) pass_on({}, std::move(waiting));
}

// --- Other peers ---

void Pastry::admit_leaf(PeerRef peer) {
  const Id& id = state_.id(peer);
  const bool there = static_cast<bool>(state_.leaves.find(id));
  if (!there && state_.leaves.full()) state_.met_beyond_leaves = true;
  takeovers_.remove(id);
  if (!state_.leaves.insert(peer, id)) return;
  state_.proximity.track(peer, state_.now());
  leaf_set_changed_ = true;
}

// Of all peers named, probes those that would be in the leaf set if all who are
// named or asked already were alive. While it is open who of the other side lives,
// nobody is asked in their stead: each would name others farther on, around the ring.
void Pastry::consider_leaves(const wire::Peers& candidates) {
  std::vector<PeerRef> fresh;
  for (const PeerRef peer : candidates) {
    const Id& id = state_.id(peer);
    if (state_.departed.in_quarantine(peer, state_.now())) continue;
    const PeerRef known = id == state_.self_id ? state_.self : state_.leaves.find(id);
    if (!known) {
      if (state_.leaves.would_take(id)) fresh.push_back(peer);
    } else if (known != peer && newer(peer, known)) {
      if (known == state_.self) {
        application_.superseded(peer);
      } else {
        prober_.probe(peer, goal::leaves);
      }
    }
  }
  if (fresh.empty()) return;
  LeafSet wanted = state_.leaves;
  const std::vector<PeerRef> asked = prober_.asked_for_leaves();
  for (const PeerRef peer : asked) wanted.insert(peer, state_.id(peer));
  for (const PeerRef peer : fresh) wanted.insert(peer, state_.id(peer));
  const bool in_no_hurry = state_.active && state_.knows_beyond_leaves();
  const auto may_come_later = [&](const Id& id) {
    const bool larger = on_larger_half(state_.self_id, id);
    return in_no_hurry && crosses(wanted, state_.self_id, id) &&
           std::ranges::any_of(asked, [&](PeerRef other) {
             return on_larger_half(state_.self_id, state_.id(other)) != larger;
           });
  };
  for (const PeerRef peer : fresh) {
    if (wanted.contains(peer) && !may_come_later(state_.id(peer))) {
      prober_.probe(peer, goal::leaves);
    }
  }
}

// A member speaks that is not in the leaf set but belongs there: this node gave
// it up wrongly, or has not heard of it yet.
void Pastry::welcome(PeerRef from) {
  if (member() && state_.leaves.would_take(state_.id(from))) prober_.probe(from, goal::leaves);
}

// It may have been in another ring meanwhile, where somebody else is next to it now.
void Pastry::came_back(PeerRef from) {
  if (state_.active && !state_.leaves.would_take(state_.id(from))) meeting_.start(from);
}

void Pastry::on_measured(PeerRef peer, Duration round_trip) {
  state_.measured(peer, round_trip);
  if (!member()) return;
  state_.offer_measured(peer);
  welcome(peer);
  application_.measured(peer, round_trip);
}

bool Pastry::newer(PeerRef peer, PeerRef than) const {
  const PeerTable& peers = state_.env.peers();
  return peers[peer].incarnation > peers[than].incarnation;
}

void Pastry::drop(PeerRef peer, Loss loss) {
  if (state_.is_self(peer)) return;
  const Id id = state_.id(peer);
  const bool was_full = state_.leaves.full();
  const bool was_watched = state_.leaves.right() == peer;
  const auto silence = state_.proximity.silence(peer, state_.now());
  const bool had_leases = silence && leases_.neighbor_since(peer, state_.now() - *silence);
  const bool known_gone = state_.departed.contains(peer);
  const bool was_leaf = state_.leaves.remove(peer);
  if (loss != Loss::failed) {
    takeovers_.remove(id);
  } else if (!known_gone && (was_leaf || !state_.active)) {
    // Who was but a candidate holds no lease of this node's, and of those that were between
    // them only leases that are waited for with those. Who was no neighbour yet when it fell
    // silent has its leases from others, which may have granted the last until then: that is,
    // before this node's probes, which it left unanswered, so many at least.
    const unsigned probes = std::min(state_.config.probe_retries + 1, Prober::sure_tries);
    const Duration probed = state_.config.probe_timeout * probes;
    await_lease(peer, had_leases ? *silence : probed);
  }
  state_.met_beyond_leaves = false;
  const bool was_entry = state_.table.remove(peer, id);
  state_.neighborhood.remove(peer);
  state_.proximity.remove(peer);
  prober_.cancel(peer);
  state_.relays.remove(peer);
  state_.departed.add(peer, loss != Loss::failed && loss != Loss::forgotten, state_.now());
  if (was_leaf) leaf_set_changed_ = true;
  if (loss == Loss::failed && (was_leaf || was_entry)) state_.tuning.failed(state_.now());
  ask_vouched_for(peer);

  if (state_.config.maintenance && state_.active && loss != Loss::replaced) {
    if (was_leaf) maintenance_.leaf_lost();
    if (was_leaf) repair_leaf_set(id, was_full, was_watched && loss == Loss::failed);
    if (was_entry) table_repair_.start(state_.table.slot_of(id));
  }
  if (joiner_) joiner_->unreachable(peer);
  finish_help(peer);
  for (HopAcks::Pending& pending : acks_.take(peer)) send_again(std::move(pending));
  const bool forgot_all = loss == Loss::failed || loss == Loss::replaced;
  if (was_leaf && forgot_all) application_.leaf_failed(peer);
  application_.peer_failed(peer);
}

// One that could still be a neighbour of nobody here is none of this node's business.
void Pastry::await_lease(PeerRef lost, Duration silence) {
  const Id& id = state_.id(lost);
  const Config& config = state_.config;
  if (!config.maintenance || !state_.leaves.would_take(id)) return;
  const MonoTime until = state_.now() - silence + config.lease + config.lease / lease_margin;
  takeovers_.add(id, until, state_.active);
}

// While a neighbour lives that takes for alive whom this node has given up, the two have it
// between them. When it is gone, such a one may be the next.
void Pastry::note_vouched_for(PeerRef neighbor, const wire::Peers& its_leaves) {
  const bool right = neighbor == state_.leaves.right();
  const bool left = neighbor == state_.leaves.left();
  if (!right && !left) return;
  wire::Peers beyond;
  std::ranges::copy_if(its_leaves, std::back_inserter(beyond), [&](PeerRef leaf) {
    return on_larger_half(state_.id(neighbor), state_.id(leaf)) ? right : left;
  });
  state_.departed.named(neighbor, beyond);
}

void Pastry::ask_vouched_for(PeerRef lost_neighbor) {
  for (const PeerRef peer : state_.departed.take_vouched_for(lost_neighbor)) {
    await_lease(peer, Duration::zero());
    prober_.probe(peer, goal::leaves);
  }
}

// Asks the live extreme of the side that lost a leaf for its leaf set. Who
// watched the lost peer tells all others of its death, by probes that name it.
void Pastry::repair_leaf_set(const Id& lost, bool was_full, bool was_watched) {
  if (state_.leaves.empty()) return;
  if (was_watched) {
    announce_failure_ = true;
  } else if (was_full || state_.knows_beyond_leaves()) {
    const bool larger_side = on_larger_half(state_.self_id, lost);
    const std::size_t extreme = state_.leaves.short_side_size() - 1;
    const Leaf& leaf = larger_side ? state_.leaves.larger(extreme) : state_.leaves.smaller(extreme);
    prober_.probe(leaf.peer, goal::leaves);
  }
  consider_known();
}

// When most of a side is lost, what the others of the leaf set know lies on the other
// side, and would lead around the whole ring. Whoever of table and neighbourhood is
// nearer than what is surely left of a side belongs into the leaf set.
void Pastry::consider_known() {
  const std::size_t extreme = state_.leaves.short_side_size() - 1;
  const Id larger = state_.leaves.larger(extreme).id - state_.self_id;
  const Id smaller = state_.self_id - state_.leaves.smaller(extreme).id;
  wire::Peers near;
  const auto consider = [&](PeerRef peer) {
    const Id& id = state_.id(peer);
    if (id - state_.self_id < larger || state_.self_id - id < smaller) near.push_back(peer);
  };
  for (const auto& entry : state_.table.all()) consider(entry.peer);
  for (const auto& entry : state_.neighborhood.all()) consider(entry.peer);
  consider_leaves(near);
}

// After the comparison of leaf sets: a leaf that the other ought to know but
// does not, and that has been silent, may be dead.
void Pastry::compare_with(PeerRef peer, const wire::Peers& its_leaves) {
  LeafSet theirs(state_.id(peer), state_.config.leaf_set_size);
  for (const PeerRef leaf : its_leaves) theirs.insert(leaf, state_.id(leaf));
  for (const Leaf& leaf : state_.leaves.all()) {
    if (leaf.peer == peer || !theirs.would_take(leaf.id)) continue;
    const auto silence = state_.proximity.silence(leaf.peer, state_.now());
    if (!silence || *silence > state_.config.heartbeat_interval) {
      prober_.probe(leaf.peer, goal::life);
    }
  }
}

}  // namespace canopy::pastry
