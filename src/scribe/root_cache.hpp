// The addresses of groups' roots, as a publisher has learned them.
//
// Bounded: the one that was used least recently makes room. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"
#include "base/time.hpp"

namespace canopy::scribe {

struct CachedRoot {
  PeerRef root;
  MonoTime confirmed{};    // when it was last known to answer
  bool ordered = false;    // the group
  std::uint64_t used = 0;  // larger is later
};

class RootCache {
 public:
  explicit RootCache(std::size_t capacity) : capacity_(capacity) {}

  // The entry, now the most recently used one; nothing if there is none.
  const CachedRoot* use(const Id& group);
  void set(const Id& group, PeerRef root, MonoTime now, bool ordered = false);
  void forget(const Id& group) { roots_.erase(group); }
  // Only if it is this one that is cached.
  void forget(const Id& group, PeerRef root);
  void forget_peer(PeerRef root);

  std::size_t size() const noexcept { return roots_.size(); }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  std::map<Id, CachedRoot> roots_;
  std::size_t capacity_;
  std::uint64_t uses_ = 0;
};

}  // namespace canopy::scribe
