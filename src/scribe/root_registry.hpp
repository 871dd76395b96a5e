// What this node knows of groups as states: of those that it is the root of,
// and of those that it keeps a replica of for another root.
//
// (epoch, version) of a state only grows, and the larger one wins. A data
// structure without I/O; roots.cpp moves the states around. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"
#include "base/time.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

struct RootRecord {
  wire::GroupState state;
  bool own = false;      // this node is the root
  bool doubted = false;  // own: another may be by now; it asks before it serves
  MonoTime touched{};    // a replica: last confirmed by a root; own: last in use
  PeerRef root;          // a replica: who sent it, and takes this node to keep it
  PeerRef predecessor;   // own: who handed it over; it may be closer for a while yet
  MonoTime predecessor_until{};
  PeerRef given_by;      // own: the same, also when that has gone
  wire::Position taken;  // own, ordered: where the predecessor had ended
  PeerRef successor;     // own: to whom it is being handed over
  struct Holder {
    PeerRef peer;
    std::uint64_t epoch = 0;
    std::uint64_t version = 0;
  };
  std::vector<Holder> holders;  // own: peers that confirmed a state, and which
};

// Some states as a hash that does not depend on their order, and a number.
struct ReplicaSet {
  std::uint64_t hash = 0;
  std::uint32_t count = 0;

  void add(const wire::GroupState& state) noexcept;
  friend bool operator==(const ReplicaSet&, const ReplicaSet&) = default;
};

class RootRegistry {
 public:
  using Map = std::map<Id, RootRecord>;

  explicit RootRegistry(std::size_t states_max) : states_max_(states_max) {}

  RootRecord* find(const Id& group);
  const RootRecord* find(const Id& group) const;
  Map& records() noexcept { return records_; }
  const Map& records() const noexcept { return records_; }

  // Keeps the larger of what is there and this one, and of two modes the stricter.
  // Nothing if there is no room for another group.
  RootRecord* merge(const wire::GroupState& state, MonoTime now);

  void erase(const Id& group) { records_.erase(group); }

  // Replicas that no root has confirmed since then: nobody counts on this node
  // any more.
  std::size_t expire_replicas(MonoTime untouched_since);

  // --- As the root: what each holder has confirmed of the states as they are ---
  std::map<PeerRef, ReplicaSet> confirmed() const;
  // The holder has not got them, as it seems.
  void forget_holder(PeerRef holder);

  // --- As a holder: what it keeps for this root ---
  ReplicaSet replicas_of(PeerRef root) const;
  void touch_replicas(PeerRef root, MonoTime now);
  // Until the root sends them anew.
  void disown_replicas(PeerRef root);

  static bool holds(const RootRecord& record, PeerRef peer) noexcept;
  static void confirm(RootRecord& record, PeerRef peer, std::uint64_t epoch, std::uint64_t version);

 private:
  Map records_;
  std::size_t states_max_;
};

// Whether `a` wins against `b`. Of two names with equal numbers, the smaller.
bool supersedes(const wire::GroupState& a, const wire::GroupState& b);

}  // namespace canopy::scribe
