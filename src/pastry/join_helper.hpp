// An active node helps one joiner at a time: unfixed Pastry can cut its ring by
// concurrent joins alone (Lu, Merz, Weidenbach, 2011). The others wait, in the
// order of their coming, and are routed on when the help is over, because the
// root of their ids may be the peer that has just joined. Bounded in number and
// in time: a joiner that hangs is let go.
// A part of a node.
#pragma once

#include <cstdint>
#include <vector>

#include "pastry/node_state.hpp"

namespace canopy::pastry {

class JoinHelper {
 public:
  enum class Verdict : std::uint8_t {
    help,   // answer it now
    wait,   // queued
    defer,  // the queue is full
  };

  explicit JoinHelper(NodeState& state) : state_(state) {}

  // A JOIN whose root this node is. One from the joiner that is being helped
  // already is answered again.
  Verdict request(PeerRef joiner, const wire::Routed& message);
  // Ends the help given to this joiner; false if it was not given.
  bool finish(PeerRef joiner);
  // The joiner that holds the help too long, if it does.
  bool overdue() const { return current_ && state_.now() >= deadline_; }

  PeerRef current() const noexcept { return current_; }
  MonoTime deadline() const noexcept { return current_ ? deadline_ : never; }
  std::size_t waiting() const noexcept { return waiting_.size(); }
  // All that wait, in their order; the queue is empty then.
  std::vector<wire::Routed> take_waiting();
  // How long a joiner that found no room should stay away.
  std::uint32_t retry_after_ms() const;

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Waiting {
    PeerRef joiner;
    wire::Routed message;
  };

  NodeState& state_;
  PeerRef current_;
  MonoTime deadline_ = never;
  std::vector<Waiting> waiting_;
};

}  // namespace canopy::pastry
