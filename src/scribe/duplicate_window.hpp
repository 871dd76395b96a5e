// Remembers the last messages of one group, so that a retry or a second way
// through the tree does not reach a member twice; and which of them this node's
// member was given: it may have become one since.
//
// Keeps a 63-bit hash of each message id: among a thousand remembered ones, a
// new message is taken for a duplicate once in 10^16. Bounded, oldest out
// first; grows with use, so that a silent group costs nothing. Looked up
// linearly as long as that is quick, by an index of hashes from then on.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

class DuplicateWindow {
 public:
  // Remembers the message; false if it was remembered already. `capacity` may
  // differ from call to call (a node that becomes root remembers more).
  bool insert(const wire::MessageId& id, std::size_t capacity, bool given = false);
  bool contains(const wire::MessageId& id) const;

  // --- Of a remembered message; in time that grows with their number ---
  bool given(const wire::MessageId& id) const;
  // Given from now on; false if it was.
  bool give(const wire::MessageId& id);

  std::size_t size() const noexcept { return hashes_.size(); }

 private:
  bool holds(std::uint64_t hash) const;

  // A ring once it is full. The last bit: given.
  std::vector<std::uint64_t> hashes_;
  std::size_t oldest_ = 0;
  std::unordered_set<std::uint64_t> index_;  // of hashes_ without that bit, once they are many
};

}  // namespace canopy::scribe
