// Group states on their way to other peers: gathered into batches, one batch
// under way per peer and purpose, sent again until confirmed.
//
// No I/O: says what to send now. The states themselves are read when a batch
// leaves, so that the newest goes. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"
#include "base/time.hpp"

namespace canopy::scribe {

enum class Purpose : std::uint8_t {
  replica,   // to be kept, in case this node fails
  handover,  // the receiver is to be the root
};

class StateTransfers {
 public:
  static constexpr std::size_t batch_max = 64;
  static constexpr unsigned attempts_max = 8;

  explicit StateTransfers(Duration retry_interval) : retry_interval_(retry_interval) {}

  void enqueue(PeerRef peer, Purpose purpose, const Id& group, MonoTime now);
  bool queued(PeerRef peer, Purpose purpose, const Id& group) const;

  // Whether anything waits for the peer, or for its confirmation.
  bool busy(PeerRef peer) const;

  struct Batch {
    PeerRef peer;
    Purpose purpose = Purpose::replica;
    std::uint32_t nonce = 0;
    std::vector<Id> groups;
  };
  // To send now. A peer that has not confirmed after attempts_max is given up
  // (its failure or the next refresh decides what then).
  std::vector<Batch> take_due(MonoTime now);

  // What the peer has confirmed by this.
  std::optional<Batch> confirmed(PeerRef peer, std::uint32_t nonce, MonoTime now);

  // Groups that waited for the peer in vain.
  void cancel(PeerRef peer);
  void cancel(PeerRef peer, Purpose purpose, const Id& group);

  MonoTime next_deadline() const noexcept;
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Queue {
    std::set<Id> waiting;
    std::vector<Id> under_way;
    std::uint32_t nonce = 0;
    unsigned attempts = 0;
    MonoTime due = never;  // to send the next batch, or the one under way again
  };
  std::map<std::pair<PeerRef, Purpose>, Queue> queues_;
  Duration retry_interval_;
  std::uint32_t last_nonce_ = 0;
};

}  // namespace canopy::scribe
