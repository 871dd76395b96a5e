// What this node knows of groups as states: of those that it is the root of,
// and of those that it keeps a replica of for another root.
//
// (life, epoch, version) of a state only grows, and the larger one wins; its access
// list is merged by rules of its own (access.hpp). A deleted group is kept as that
// for a while, so that no old state brings it back. A data structure without I/O;
// roots.cpp moves the states around. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"
#include "base/time.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

struct RootRecord {
  wire::GroupState state;
  bool own = false;            // this node is the root
  bool doubted = false;        // own: another may be by now; it asks before it serves
  bool offered = true;         // not own: whoever is the root has what is kept here
  bool rootless = false;       // a replica: its root has gone, and no other has confirmed it
  MonoTime touched{};          // a replica: last confirmed by a root; own: last in use
  MonoTime forget_at = never;  // a deleted group
  PeerRef root;                // a replica: who sent it, and takes this node to keep it
  PeerRef predecessor;         // own: who handed it over; it may be closer for a while yet
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

  RootRegistry(std::size_t states_max, Duration deletion_memory)
      : states_max_(states_max), deletion_memory_(deletion_memory) {}

  RootRecord* find(const Id& group);
  const RootRecord* find(const Id& group) const;
  Map& records() noexcept { return records_; }
  const Map& records() const noexcept { return records_; }

  // Keeps what is there and this one, merged. Nothing if there is no room for another
  // group.
  RootRecord* merge(const wire::GroupState& state, MonoTime now);
  // As others are told it.
  static wire::GroupState told(const RootRecord& record, MonoTime now);

  void erase(const Id& group) { records_.erase(group); }

  // Replicas that no root has confirmed since then: nobody counts on this node
  // any more. And deleted groups whose time is up.
  std::vector<Id> expired(MonoTime untouched_since, MonoTime now) const;

  // --- As the root: what each holder has confirmed of the states as they are ---
  std::map<PeerRef, ReplicaSet> confirmed() const;
  // The holder has not got them, as it seems.
  void forget_holder(PeerRef holder);

  // --- As a holder: what it keeps for this root ---
  ReplicaSet replicas_of(PeerRef root) const;
  void touch_replicas(PeerRef root, MonoTime now);
  // Until the root sends them anew.
  void disown_replicas(PeerRef root);
  void root_gone(PeerRef root);

  static bool holds(const RootRecord& record, PeerRef peer) noexcept;
  static void confirm(RootRecord& record, PeerRef peer, std::uint64_t epoch, std::uint64_t version);

 private:
  Map records_;
  std::size_t states_max_;
  Duration deletion_memory_;
};

// Whether `a` wins against `b`. Of two names with equal numbers, the smaller.
bool supersedes(const wire::GroupState& a, const wire::GroupState& b);

// The larger; but of two modes the stricter, of two access lists see access.hpp, and
// created if either was: of the same group in the same life.
wire::GroupState merged(const wire::GroupState& a, const wire::GroupState& b);

// What of two states, of roots that both served, is not in what they became, in words for
// people; empty if nothing is lost.
std::string lost_between(const wire::GroupState& a, const wire::GroupState& b,
                         const wire::GroupState& kept);

}  // namespace canopy::scribe
