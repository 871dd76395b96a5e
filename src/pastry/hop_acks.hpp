// Routed messages that await the receipt of their next hop.
//
// Each has its own timeout: the neighbour's round trip estimate within the
// profile's floor and ceiling, doubled with each repeat to the same hop. What to do about an
// overdue one is the router's business: it takes them out and sends them again
// by another way. Bounded; a full table means that further hops go unacked.
// A part of a node, told of acks and of time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/quota.hpp"
#include "pastry/node_state.hpp"

namespace canopy::pastry {

class HopAcks {
 public:
  struct Pending {
    PeerRef to;
    PeerRef from;            // whom the message came from; empty where it started
    std::uint8_t tries = 1;  // of this hop
    MonoTime begun;          // when this node tried for the first time
    MonoTime sent;
    MonoTime deadline;
    wire::Routed message;  // with its hop_id
  };

  explicit HopAcks(NodeState& state)
      : state_(state), room_(state.config.pending_acks_max, state.config.pending_ack_bytes_max) {}

  // Awaits the receipt of a message about to be sent; sets its hop_id, which is
  // 0 if there is no room.
  void add(PeerRef to, PeerRef from, wire::Routed& message);
  // The same to the same peer once more: the hop keeps its hop_id.
  void add_again(Pending pending);
  // The same by another way. Its message goes with a hop_id as add() gives it.
  void add_elsewhere(PeerRef to, Pending& pending);

  // The receipt has come; the round trip if the message was sent only once.
  std::optional<Duration> acked(PeerRef from, std::uint32_t hop_id);

  MonoTime deadline() const noexcept { return deadline_; }
  std::vector<Pending> take_overdue();
  // All that await this peer.
  std::vector<Pending> take(PeerRef to);
  // This process slept: every timeout starts anew.
  void start_over();

  std::size_t size() const noexcept { return pending_.size(); }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  Duration timeout(PeerRef to, unsigned tries) const;
  void await(PeerRef to, PeerRef from, wire::Routed& message, MonoTime begun);
  template <typename Condition>
  std::vector<Pending> take_if(Condition condition);

  NodeState& state_;
  Quota room_;
  std::uint32_t last_hop_id_ = 0;
  std::vector<Pending> pending_;  // in the order of sending
  MonoTime deadline_ = never;     // the earliest of them, or earlier
};

// The last few hops received, so that one sent again because its receipt got
// lost is acked again and otherwise ignored.
class SeenHops {
 public:
  // Whether this hop is new; remembers it.
  bool first(PeerRef from, std::uint32_t hop_id);
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Hop {
    PeerRef from;
    std::uint32_t hop_id = 0;
    friend bool operator==(const Hop&, const Hop&) = default;
  };
  static constexpr std::size_t size = 16;
  std::array<Hop, size> hops_{};
  std::uint8_t next_ = 0;
};

}  // namespace canopy::pastry
