#include "scribe/root_cache.hpp"

#include <algorithm>

namespace canopy::scribe {

const CachedRoot* RootCache::use(const Id& group) {
  const auto found = roots_.find(group);
  if (found == roots_.end()) return nullptr;
  found->second.used = ++uses_;
  return &found->second;
}

void RootCache::set(const Id& group, PeerRef root, MonoTime now, bool ordered) {
  if (capacity_ == 0) return;
  if (roots_.size() >= capacity_ && !roots_.contains(group)) {
    roots_.erase(
        std::ranges::min_element(roots_, {}, [](const auto& entry) { return entry.second.used; }));
  }
  roots_[group] = {root, now, ordered, ++uses_};
}

void RootCache::forget(const Id& group, PeerRef root) {
  const auto found = roots_.find(group);
  if (found != roots_.end() && found->second.root == root) roots_.erase(found);
}

void RootCache::forget_peer(PeerRef root) {
  std::erase_if(roots_, [&](const auto& entry) { return entry.second.root == root; });
}

void RootCache::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [group, cached] : roots_) in_use.push_back(cached.root);
}

}  // namespace canopy::scribe
