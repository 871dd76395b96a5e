// Bridges: queues that subscribe to groups of the overlay. Keeps which there are,
// and makes messages of multicasts: each becomes at most one, however often and
// late it comes, since its id is remembered by the command that sends it.
//
// What is remembered is bounded: of each publisher's boot a window of numbers,
// and of publishers the last ones, in two generations. When the newer is full,
// the older is forgotten; who publishes stays in the newer.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "queue/keys.hpp"
#include "queue/multicast_window.hpp"
#include "queue/sending.hpp"
#include "queue/state.hpp"

namespace canopy::queue {

class Bridging {
 public:
  Bridging(State& state, Sending& sending);

  Prepared prepare(AddBridge action, const Caller& caller);
  Prepared prepare(RemoveBridge action, const Caller& caller);
  Prepared prepare(SendMulticasts action, const Caller& caller);
  Outcome answer(const ListBridges& action);

  Outcome apply(const Command& command, const command::AddBridge& add);
  Outcome apply(const Command& command, const command::RemoveBridge& remove);
  Outcome apply(const Command& command, const command::SendMulticasts& send);

  // Before the queue is deleted, and its part of the store with it.
  void queue_goes(QueueNumber queue);

 private:
  using Key = keys::BridgeKey;
  struct Record {
    BridgeCounts counts;
    std::uint64_t generation = 0;  // the newer one
    std::uint64_t publishers = 0;  // in it
  };
  // A publisher's boot.
  using Publisher = std::pair<Id, std::uint64_t>;

  static std::string encode(const Record& record);
  static Record decode(std::string_view bytes);

  bool full() const { return bridges_.size() >= state_.config.limits.bridges_max; }
  Outcome shown(const Key& key, const Record& record);
  MulticastWindow load(const Key& key, Record& record, const Publisher& publisher) const;
  void forget(const Key& key, Record& record);

  State& state_;
  Sending& sending_;
  std::map<Key, Record> bridges_;
};

}  // namespace canopy::queue
