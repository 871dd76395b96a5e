// What lets a node act as root: leases from both its neighbours on the ring.
//
// A lease is a neighbour's promise not to take over this node's part of the ring
// for `Config::lease`, even if it gives this node up. It counts from the sending
// of a message that the neighbour has answered since; the neighbour counts from
// when it heard from this node last, which is later. So whoever is given up
// wrongly stops acting, or has been taken back, before anybody acts in its place;
// a node whose process was stopped finds its leases run out and asks again first. Its
// neighbours may have been stopped with it, as when a host was: who acts for it then is
// further away. So it hears from all its leaves first, who take it back by that.
// Each node grants for as long as its own configuration says.
// Against a partition leases do not help: each side evicts the other.
//
// Heartbeats carry the leases: one with a number asks for one, the answer echoes the
// number and, if the answerer's own lease from the asker ages, asks in turn; a third
// one echoes that. The left neighbour is asked every T_ls and the right one usually
// asks by itself. Whoever does not answer is probed: so both neighbours of a dead
// node find out. Probes of leaf sets that are answered renew leases, too.
//
// They carry a mark of the leaves that both should have, too. Neighbours that
// disagree for half an interval compare their leaf sets.
// A part of a node.
#pragma once

#include <vector>

#include "pastry/node_state.hpp"
#include "pastry/prober.hpp"

namespace canopy::pastry {

class Leases {
 public:
  Leases(NodeState& state, Prober& prober) : state_(state), prober_(prober) {}

  // Whether this node may act as root: both neighbours' leases are valid, or it is alone.
  bool held();
  // Whether the peer has been a neighbour since then: if so, it has had this side's leases
  // from this node, else from whoever was between them.
  bool neighbor_since(PeerRef peer, MonoTime then);

  // --- What is told of ---
  // A newcomer that is not active yet: it acts for nobody for now.
  void met_newcomer(PeerRef peer);
  void on_heartbeat(PeerRef from, const wire::Heartbeat& heartbeat);
  // The peer, which has this node in its leaf set, has answered what was sent then.
  void answered(PeerRef peer, MonoTime sent);
  // So it has a probe with this nonce, whenever and whichever way that went.
  void told_leaves(PeerRef peer, std::uint32_t nonce);
  // Whether one that had run out was renewed since this was asked last.
  bool take_renewed();
  // This process slept: nobody is to blame for silence. Whether a lease has run out, and
  // none is held until all leaves have told theirs or are lost, or it has waited long enough.
  bool start_over();

  // Asks for what is due, and probes who has not answered.
  void tick();
  MonoTime deadline();

 private:
  struct Neighbor {
    PeerRef peer;
    MonoTime met{};            // when it became one
    std::uint32_t number = 0;  // of the heartbeat that awaits its echo, or 0
    MonoTime sent{};           // when that one was
    // The lease; none yet.
    MonoTime since = MonoTime::min();
    MonoTime until = MonoTime::min();
    MonoTime differs_since = never;  // by the marks
  };

  void look_at_neighbors();
  Neighbor* find(PeerRef peer) noexcept;
  bool valid(const Neighbor& neighbor) const;
  void check_return();
  MonoTime returned_by() const;
  Duration renewal(const Neighbor& neighbor) const;
  bool fresh(const Neighbor& neighbor) const;
  Duration age_allowed(const Neighbor& neighbor) const;
  MonoTime due(const Neighbor& neighbor) const;
  std::uint32_t begin(Neighbor& neighbor);
  void answer(PeerRef peer, Neighbor* asked, std::uint32_t number);
  void renew(Neighbor& neighbor, MonoTime since, Duration lease);
  void compare(Neighbor& neighbor, std::uint32_t mark);

  NodeState& state_;
  Prober& prober_;
  Neighbor left_;
  Neighbor right_;  // none in a ring of two: the left one is both
  bool renewed_ = false;
  // After a sleep: who has not answered yet of those asked then.
  std::vector<PeerRef> unheard_;
  MonoTime woke_at_{};
  std::uint32_t nonce_awake_ = 0;  // the first one since
};

}  // namespace canopy::pastry
