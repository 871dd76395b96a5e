// Publishes of this node that wait for the root's word.
//
// A message that asks for no ack waits here too while it is not certain that
// the cached root is alive; nobody is told how that ends. Bounded. Says what is
// due and sends nothing. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/peer.hpp"
#include "base/quota.hpp"
#include "base/time.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

struct PendingPublish {
  wire::Publish message;     // as it is sent again
  PublishCompletion done;    // empty: nobody waits
  PeerRef sent_to;           // directly; empty if it was routed
  MonoTime line_until{};     // longest wait for its turn (publish_lines.hpp)
  MonoTime deadline{};       // for the root's word; begins anew with its turn
  Duration time{};           // from its turn to the deadline
  MonoTime replies_until{};  // of a request
  std::uint64_t chain = 0;
  bool root_failed = false;  // since it was sent first
  bool overtaken = false;    // a later one that comes after it has its place
  bool last_try = false;     // one before it has failed: the root's next word counts
  // ack members: the root has said that it has it, and will say more.
  std::optional<wire::PublishAck> placed = {};
  bool rerouted = false;  // since then, as that root could not be reached
};

class PublishTable {
 public:
  PublishTable(std::size_t count_max, std::size_t bytes_max) : room_(count_max, bytes_max) {}

  bool has_room_for(const Buffer& body) const noexcept { return room_.has_room_for(body.size()); }
  std::size_t size() const noexcept { return pending_.size(); }

  // `look_at`: when to retry or to give up.
  void add(std::uint64_t sequence, PendingPublish publish, MonoTime look_at);
  PendingPublish* find(std::uint64_t sequence);
  void look_again(std::uint64_t sequence, MonoTime at) { timers_.schedule(sequence, at); }
  std::optional<PendingPublish> take(std::uint64_t sequence);

  std::vector<std::uint64_t> take_due(MonoTime now) { return timers_.take_due(now); }
  MonoTime next_deadline() const { return timers_.next(); }

  // The latest message to the group that waits for the root's first word and was
  // published before this; 0 if none.
  std::uint64_t last_before(const Id& group, std::uint64_t sequence) const;
  // Those to the group that wait for it and were published after this.
  std::vector<std::uint64_t> after(const Id& group, std::uint64_t sequence) const;
  std::vector<std::uint64_t> all() const;
  // Those that were sent to this peer directly.
  std::vector<std::uint64_t> sent_to(PeerRef peer) const;
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  std::map<std::uint64_t, PendingPublish> pending_;  // by sequence
  DeadlineSet<std::uint64_t> timers_;
  Quota room_;
};

}  // namespace canopy::scribe
