// Questions that people ask of a ring: the way to a key, and who is in it.
//
// Both are bounded in number and time, and answer by a callback, exactly once.
// A part of a node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <boost/system/result.hpp>

#include "pastry/node_state.hpp"

namespace canopy::pastry {

using PeersHandler = std::function<void(boost::system::result<wire::Peers>)>;

// Routes that are being traced.
class RouteTraces {
 public:
  explicit RouteTraces(NodeState& state) : state_(state) {}

  // Registers a trace; the nonce of the RouteTrace to route, or 0 if too many
  // are under way (the handler has got errc::limit then).
  std::uint32_t begin(Duration deadline, PeersHandler handler);
  void on_reply(const wire::RouteTraceReply& reply);
  // The root is this node: the handler is called on the next tick.
  void ended_here(std::uint32_t nonce, wire::Peers hops);
  void tick();
  MonoTime deadline() const noexcept;
  void cancel_all();
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Open {
    std::uint32_t nonce = 0;
    MonoTime deadline;
    PeersHandler handler;
    std::optional<wire::Peers> hops = {};
  };

  NodeState& state_;
  std::vector<Open> open_;
};

// Walks around the ring clockwise, from leaf set to leaf set.
class RingWalk {
 public:
  RingWalk(NodeState& state, Duration deadline, PeersHandler handler);

  bool on_state_reply(PeerRef from, const wire::StateReply& reply);
  // The peer will not answer: is not active, or unreachable.
  void refused(PeerRef peer, std::uint32_t nonce);
  void tick();
  MonoTime deadline() const noexcept { return std::min(deadline_, overall_deadline_); }
  bool finished() const noexcept { return !handler_; }
  // Ends it with errc::shutting_down.
  void cancel();

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Found {
    Id offset;  // id - own id
    PeerRef peer;
  };

  bool add(PeerRef peer);
  void ask_next();
  void give_up_on_asked();
  void finish(boost::system::result<wire::Peers> result);

  NodeState& state_;
  PeersHandler handler_;
  MonoTime overall_deadline_;
  MonoTime deadline_ = never;
  std::vector<Found> found_;     // in ring order, this node first
  std::vector<PeerRef> silent_;  // asked in vain
  Id reached_;                   // up to here the ring is known without a gap
  PeerRef asked_;
  std::uint32_t nonce_ = 0;
};

}  // namespace canopy::pastry
