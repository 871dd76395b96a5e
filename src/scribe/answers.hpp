// What questions were answered, of late: one that comes again, because the answer
// was slow or got lost, is not carried out twice. Bounded: the oldest go.
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/peer.hpp"

namespace canopy::scribe {

template <class Reply>
class Answers {
 public:
  static constexpr std::size_t questions_max = 256;

  struct Entry {
    PeerRef origin;
    std::uint32_t nonce = 0;
    std::optional<Reply> reply;  // none yet: it is being carried out
  };

  // Null: it has not been asked.
  Entry* find(PeerRef origin, std::uint32_t nonce) {
    const auto same = [&](const Entry& entry) {
      return entry.origin == origin && entry.nonce == nonce;
    };
    const auto found = std::ranges::find_if(entries_, same);
    return found == entries_.end() ? nullptr : &*found;
  }
  void begin(PeerRef origin, std::uint32_t nonce) {
    if (entries_.size() >= questions_max) entries_.pop_front();
    entries_.push_back({origin, nonce, std::nullopt});
  }
  void end(PeerRef origin, std::uint32_t nonce, const Reply& reply) {
    if (Entry* entry = find(origin, nonce)) entry->reply = reply;
  }
  // To be carried out again if it is asked again.
  void forget(PeerRef origin, std::uint32_t nonce) {
    std::erase_if(entries_, [&](const Entry& entry) {
      return entry.origin == origin && entry.nonce == nonce;
    });
  }

  void collect_peers(std::vector<PeerRef>& in_use) const {
    for (const Entry& entry : entries_) in_use.push_back(entry.origin);
  }

 private:
  std::deque<Entry> entries_;
};

}  // namespace canopy::scribe
