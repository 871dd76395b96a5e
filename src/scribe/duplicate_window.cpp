#include "scribe/duplicate_window.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "scribe/mix.hpp"

namespace canopy::scribe {

namespace {

std::uint64_t hash_of(const wire::MessageId& id) noexcept {
  return mix64(mix64(id.publisher.high64() ^ mix64(id.incarnation)) ^ id.sequence);
}

}  // namespace

bool DuplicateWindow::insert(const wire::MessageId& id, std::size_t capacity) {
  CANOPY_ASSERT(capacity > 0);
  const std::uint64_t hash = hash_of(id);
  if (std::ranges::find(hashes_, hash) != hashes_.end()) return false;
  if (hashes_.size() < capacity) {
    // A ring that has turned is straightened before it grows.
    std::rotate(hashes_.begin(), hashes_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                hashes_.end());
    oldest_ = 0;
    hashes_.push_back(hash);
  } else {
    hashes_[oldest_] = hash;
    oldest_ = (oldest_ + 1) % hashes_.size();
  }
  return true;
}

}  // namespace canopy::scribe
