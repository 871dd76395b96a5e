#include "scribe/duplicate_window.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/boot_mark.hpp"
#include "base/mix.hpp"

namespace canopy::scribe {

namespace {

constexpr std::size_t indexed_from = 256;
constexpr std::uint64_t given_bit = 1;

std::uint64_t without_bit(std::uint64_t hash) noexcept { return hash & ~given_bit; }

std::uint64_t hash_of(const wire::MessageId& id) noexcept {
  return without_bit(mix64(boot_mark(id.publisher, id.incarnation) ^ id.sequence));
}

}  // namespace

bool DuplicateWindow::insert(const wire::MessageId& id, std::size_t capacity, bool given) {
  CANOPY_ASSERT(capacity > 0);
  const std::uint64_t hash = hash_of(id);
  if (holds(hash)) return false;
  const std::uint64_t kept = given ? hash | given_bit : hash;
  if (hashes_.size() < capacity) {
    // A ring that has turned is straightened before it grows.
    std::rotate(hashes_.begin(), hashes_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                hashes_.end());
    oldest_ = 0;
    hashes_.push_back(kept);
    if (hashes_.size() == indexed_from) {
      for (const std::uint64_t each : hashes_) index_.insert(without_bit(each));
    }
  } else {
    index_.erase(without_bit(hashes_[oldest_]));
    hashes_[oldest_] = kept;
    oldest_ = (oldest_ + 1) % hashes_.size();
  }
  if (hashes_.size() >= indexed_from) index_.insert(hash);
  return true;
}

bool DuplicateWindow::contains(const wire::MessageId& id) const { return holds(hash_of(id)); }

bool DuplicateWindow::given(const wire::MessageId& id) const {
  return std::ranges::find(hashes_, hash_of(id) | given_bit) != hashes_.end();
}

bool DuplicateWindow::give(const wire::MessageId& id) {
  const auto found = std::ranges::find(hashes_, hash_of(id));
  if (found == hashes_.end()) return false;
  *found |= given_bit;
  return true;
}

bool DuplicateWindow::holds(std::uint64_t hash) const {
  if (hashes_.size() >= indexed_from) return index_.contains(hash);
  return std::ranges::find(hashes_, hash, without_bit) != hashes_.end();
}

}  // namespace canopy::scribe
