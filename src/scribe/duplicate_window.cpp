#include "scribe/duplicate_window.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/mix.hpp"

namespace canopy::scribe {

namespace {

constexpr std::size_t indexed_from = 256;

std::uint64_t hash_of(const wire::MessageId& id) noexcept {
  return mix64(mix64(id.publisher.high64() ^ mix64(id.incarnation)) ^ id.sequence);
}

}  // namespace

bool DuplicateWindow::insert(const wire::MessageId& id, std::size_t capacity) {
  CANOPY_ASSERT(capacity > 0);
  const std::uint64_t hash = hash_of(id);
  if (holds(hash)) return false;
  if (hashes_.size() < capacity) {
    // A ring that has turned is straightened before it grows.
    std::rotate(hashes_.begin(), hashes_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                hashes_.end());
    oldest_ = 0;
    hashes_.push_back(hash);
    if (hashes_.size() == indexed_from) index_.insert(hashes_.begin(), hashes_.end());
  } else {
    index_.erase(hashes_[oldest_]);
    hashes_[oldest_] = hash;
    oldest_ = (oldest_ + 1) % hashes_.size();
  }
  if (hashes_.size() >= indexed_from) index_.insert(hash);
  return true;
}

bool DuplicateWindow::contains(const wire::MessageId& id) const { return holds(hash_of(id)); }

bool DuplicateWindow::holds(std::uint64_t hash) const {
  if (hashes_.size() >= indexed_from) return index_.contains(hash);
  return std::ranges::find(hashes_, hash) != hashes_.end();
}

}  // namespace canopy::scribe
