// The peers that the links know of: what waits for them, how to reach them.
//
// One entry for each process, that is for each (id, incarnation); several
// descriptors may name it. An entry exists while it has a link, a dial,
// something queued, or a failure to remember. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "net/link.hpp"
#include "net/outbox.hpp"
#include "wire/hello.hpp"

namespace canopy::net {

class Dial;

// A link that claims the id of an entry that has one already.
struct Challenge {
  std::shared_ptr<Link> link;
  wire::Hello hello;
  PeerRef peer;
  boost::asio::steady_timer deadline;  // for the old link to answer
};

struct PeerEntry {
  PeerEntry(const OutboxLimits& limits, ClassCounts& dropped_full) : outbox(limits, dropped_full) {}

  PeerRef peer() const { return refs.front(); }

  Id id;
  std::uint64_t incarnation = 0;
  std::vector<PeerRef> refs;  // descriptors that name this process
  Outbox outbox;
  std::shared_ptr<Link> link;      // established; the one to send by
  std::shared_ptr<Dial> dial;      // connecting
  std::shared_ptr<Link> greeting;  // connected by us, the handshake is under way
  bool announced = false;          // told connected(), and not disconnected() since
  unsigned failures = 0;           // in a row
  MonoTime retry_at{};             // no dial before
  std::shared_ptr<boost::asio::steady_timer> timer;  // for retry_at, then for forgetting
  std::shared_ptr<Challenge> challenge;
};

class PeerBook {
 public:
  // All outlive the book.
  PeerBook(const PeerTable& peers, const OutboxLimits& limits, ClassCounts& dropped_full)
      : peers_(peers), limits_(limits), dropped_full_(dropped_full) {}

  // The entry of the process that this descriptor names; null if there is none.
  PeerEntry* find(PeerRef peer);

  // The same, made if missing.
  PeerEntry& get(PeerRef peer);

  // The latest incarnation of this id that has a link; null if none has.
  PeerEntry* linked(const Id& id) const;

  // All incarnations of this id but one.
  std::vector<PeerEntry*> others(const PeerEntry& entry) const;

  void erase(PeerEntry& entry);

  std::size_t size() const noexcept { return entries_.size(); }

  // In the order of ids.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, entry] : entries_) visit(*entry);
  }

 private:
  using Key = std::pair<Id, std::uint64_t>;

  PeerEntry* cached(PeerRef peer) const noexcept;
  void name(PeerEntry& entry, PeerRef peer);

  const PeerTable& peers_;
  const OutboxLimits& limits_;
  ClassCounts& dropped_full_;
  std::map<Key, std::unique_ptr<PeerEntry>> entries_;
  std::vector<PeerEntry*> by_ref_;  // by PeerRef::index(), for the way of every message
};

}  // namespace canopy::net
