// The latest message of each group that has passed here, for those who join.
//
// Bounded in bytes over all groups: the group whose message is the oldest here
// gives way. Bodies are shared with whoever else has them; one that stays is
// copied after a while if it is much smaller than the block that it was read
// into. Takes no memory before the first message. No I/O. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/time.hpp"
#include "scribe/config.hpp"
#include "scribe/counters.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

// In the sequence of a best-effort message's stamp. (Its epoch does not tell the mode: that of
// a group that is created anew goes on from the ones before.)
inline constexpr std::uint64_t best_effort_stamp = std::uint64_t{1} << 63;

inline bool of_an_order(const wire::Position& stamp) noexcept {
  return (stamp.sequence & best_effort_stamp) == 0;
}

wire::Position stamp_of(const wire::Multicast& message) noexcept;

// Whether a message with this stamp is later than one with the other. If they are of two modes
// it is, as the group is in this one's now: founded anew, it may have begun with small numbers.
inline bool later(const wire::Position& stamp, const wire::Position& than) noexcept {
  return of_an_order(stamp) == of_an_order(than) ? stamp > than : stamp != wire::Position{};
}

class LastStore {
 public:
  LastStore() noexcept;
  ~LastStore();
  LastStore(const LastStore&) = delete;
  LastStore& operator=(const LastStore&) = delete;

  // The tree's next message. What has to give way is counted.
  void passed(const wire::Multicast& message, const Config& config, MonoTime now,
              Counters& counters);
  // Whether this is later than what is here, and than all that is known of.
  bool wants(const wire::LastReply& reply) const;
  // Somebody knows of a message with this stamp: true if none so late was heard of.
  bool heard_of(const Id& group, const wire::Position& stamp);
  // Whoever was heard of to have a later one has none.
  void disbelieve(const Id& group);

  // Nothing if there is none, or a later one is known of.
  std::optional<wire::LastReply> find(const Id& group) const;
  // The stamp of the latest one that is known of.
  wire::Position newest(const Id& group) const;

  void forget(const Id& group);

  // When settle() has something to copy.
  MonoTime settle_at() const noexcept;
  void settle();

 private:
  struct State;
  State& state();

  std::unique_ptr<State> state_;
};

}  // namespace canopy::scribe
