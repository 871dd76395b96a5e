// Probes of other peers: whether they live, how far they are, and what their
// leaf sets hold.
//
// One probe a peer at a time; what is wanted of it adds up. A probe is sent
// again when its timeout passes, and has failed when the last repeat was in
// vain and nothing else came from the peer meanwhile. Strangers that were but to be
// measured are left alone sooner. Only such a failure
// evicts a peer.
//
// A node sends no more than so many a second (Config::probes_per_second), and half as many
// more at once after a pause. What is beyond that waits, repeats as well, and goes in the order
// of importance: first what concerns the leaf set, of candidates for it the nearest first, then
// who may be dead, then entries of the table, then distances. A candidate that nearer ones have
// ousted meanwhile is forgotten.
//
// The last try for a neighbour on the ring goes by way of others as well, unless it is answered
// soon. Where only that is answered, the neighbour is out of reach, not dead (relays.hpp).
//
// While nothing proves that it lives, a peer that is probed for
// its life, or that has let a first timeout pass, is a suspect.
// A part of a node: sends by NodeState, is told of answers and of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pastry/node_state.hpp"

namespace canopy::pastry {

// What a probe is for; may be combined.
using Goals = std::uint8_t;
namespace goal {
inline constexpr Goals life = 1;      // any message from the peer will do
inline constexpr Goals distance = 2;  // wants the answer that carries the last nonce
inline constexpr Goals leaves = 4;    // wants its leaf set
inline constexpr Goals presence = 8;  // as life, but nothing speaks against it so far
}  // namespace goal

class Prober {
 public:
  explicit Prober(NodeState& state) : state_(state) {}

  // So many without an answer are enough where a mistake costs little: where others have
  // asked as well, or to lose an entry of the table.
  static constexpr unsigned sure_tries = 3;

  // Probes the peer, or adds to what an outstanding probe is for.
  void probe(PeerRef peer, Goals goals);
  // For leaf sets, without repeats: a peer that has probably gone for good.
  void try_once(PeerRef peer);
  // For its life, as somebody else has done in vain: with fewer repeats.
  void confirm(PeerRef peer);
  // For leaf sets, but sent in any case: there is news to tell, which a
  // probe that is outstanding already did not carry.
  void probe_with_news(PeerRef peer);

  struct Answer {
    Goals goals = 0;  // what the probe was for; 0 if none was outstanding
    std::optional<Duration> round_trip;
  };
  Answer answered(PeerRef peer, std::uint32_t nonce, bool with_leaves);

  // Any message from the peer, by a relay or not.
  void heard(PeerRef peer);
  void cancel(PeerRef peer);
  void cancel_all();

  // Also of one that waits to be sent.
  bool pending(PeerRef peer, Goals goals) const noexcept;
  bool suspected(PeerRef peer) const noexcept;
  // Probes outstanding that want one of these, those that wait included.
  std::size_t outstanding(Goals goals) const noexcept;
  // Peers whose leaf sets are being asked for.
  std::vector<PeerRef> asked_for_leaves() const;

  MonoTime deadline() const noexcept { return deadline_; }
  // Repeats what is overdue; gives the peers whose probes have failed. Those that are but out of
  // reach are relayed from now on.
  std::vector<PeerRef> expire();
  // This process slept: nobody is to blame for silence. All probes start anew.
  void start_over();

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Pending {
    PeerRef peer;
    PeerRef relay;  // by which it was heard from, if it was
    Goals goals = 0;
    std::uint8_t tries = 0;
    std::uint8_t rounds = 0;  // of tries, for a peer that lives but does not answer
    bool heard = false;       // from the peer since the first try
    bool waiting = false;     // to be sent
    bool news = false;        // likewise, whatever the peer says meanwhile
    bool candidate = false;   // for the leaf set, when it was first asked for
    std::uint32_t nonce = 0;
    std::uint32_t previous_nonce = 0;
    MonoTime sent;
    MonoTime previous_sent;
    MonoTime deadline;
    MonoTime others_at = never;  // when it goes by others, too
  };

  Pending* find(PeerRef peer) noexcept;
  const Pending* find(PeerRef peer) const noexcept;
  bool stranger(const Pending& pending) const;
  unsigned tries_max(const Pending& pending) const;
  // How urgent it is: less is more.
  unsigned rank(const Pending& pending) const;
  bool comes_before(const Pending& a, const Pending& b) const;
  Id distance(const Pending& pending) const;
  bool make_room_for(const Pending& added);
  void add(PeerRef peer, Goals goals, unsigned tries_spared = 0);
  void want(Pending& pending) noexcept;
  void satisfied(Pending& pending, Goals goals);
  bool may_send() const noexcept;
  void send_waiting();
  void send(Pending& pending);
  void send_through(PeerRef relay, const Pending& pending);
  bool by_others_too(const Pending& pending) const;
  void send_by_others(Pending& pending);
  bool came_round(PeerRef peer) const noexcept;
  void settle_deadline() noexcept;

  NodeState& state_;
  std::vector<Pending> pending_;  // in the order of their first tries
  MonoTime deadline_ = never;     // the earliest of them, or earlier
  MonoTime next_send_{};          // before that, none goes
  std::uint32_t waiting_ = 0;
};

}  // namespace canopy::pastry
