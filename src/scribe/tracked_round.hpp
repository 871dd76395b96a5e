// One round of a tracked multicast at one node: which children have yet to
// answer, who waits for an answer, and what is known so far. Plain state;
// Tracking sends the messages. Not thread-safe.
#pragma once

#include <algorithm>
#include <utility>

#include "base/time.hpp"
#include "scribe/reach.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

inline wire::Position round_of(const wire::Multicast& message) noexcept {
  return message.epoch != 0 ? wire::Position{message.epoch, message.sequence}
                            : message.tracking.round;
}

class TrackedRound {
 public:
  // `own`: of this node, the root.
  TrackedRound(wire::Multicast message, bool own, MonoTime give_up_at, MonoTime forget_at)
      : message_(std::move(message)), own_(own), give_up_at_(give_up_at), forget_at_(forget_at) {}

  const wire::Multicast& message() const noexcept { return message_; }
  wire::Position round() const noexcept { return round_of(message_); }
  bool own() const noexcept { return own_; }
  MonoTime give_up_at() const noexcept { return give_up_at_; }
  MonoTime forget_at() const noexcept { return forget_at_; }

  wire::Reach reach;  // so far
  wire::Reach lost;   // subtrees, as noted
  PeerRef publisher;  // own: who waits for the result
  Duration pause{};   // until it asks again

  // --- Children ---
  void await(PeerRef child) { awaited_.push_back(child); }
  bool awaits(PeerRef child) const noexcept { return contains(awaited_, child); }
  const wire::Peers& awaited() const noexcept { return awaited_; }
  // It has the message, its children may not.
  void has_it(PeerRef child, bool has);
  bool has_it(PeerRef child) const noexcept { return contains(have_it_, child); }
  void answered(PeerRef child);
  void give_up(PeerRef child);
  // Whether it has not told its members yet; remembers that it has.
  bool count_once(PeerRef child);

  // --- Those who sent it ---
  // They want an answer as soon as there is one; too many ask again.
  void ask(PeerRef asker);
  const wire::Peers& askers() const noexcept { return askers_; }
  // The members are told to one only, so that nobody counts them twice.
  wire::Reach reach_for(PeerRef asker) const;

  // Subtrees that are lost now, in addition to those that were before.
  void note_lost(const wire::Reach& now);

  bool done() const noexcept { return done_; }
  // Adds what is lost. The message is not needed any more; the result stays.
  void finish();

 private:
  static constexpr std::size_t askers_max = 4;

  static bool contains(const wire::Peers& peers, PeerRef peer) noexcept {
    return std::ranges::find(peers, peer) != peers.end();
  }

  wire::Multicast message_;
  wire::Peers awaited_;
  wire::Peers have_it_;  // of them
  wire::Peers counted_;  // children
  wire::Peers askers_;
  bool own_;
  bool done_ = false;
  MonoTime give_up_at_;
  MonoTime forget_at_;
};

}  // namespace canopy::scribe
