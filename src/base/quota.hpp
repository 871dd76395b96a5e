// Room for a bounded number of things that are of a bounded size together.
// Plain value; not thread-safe.
#pragma once

#include <cstddef>

#include "base/assert.hpp"

namespace canopy {

class Quota {
 public:
  Quota(std::size_t count_max, std::size_t bytes_max) noexcept
      : count_max_(count_max), bytes_max_(bytes_max) {}

  // One thing fits always, however large, so that none waits for ever.
  bool has_room_for(std::size_t bytes) const noexcept {
    return count_ == 0 ? count_max_ > 0 : count_ < count_max_ && bytes_ + bytes <= bytes_max_;
  }
  void take(std::size_t bytes) noexcept {
    ++count_;
    bytes_ += bytes;
  }
  void give_back(std::size_t bytes) noexcept {
    CANOPY_ASSERT(count_ > 0 && bytes_ >= bytes);
    --count_;
    bytes_ -= bytes;
  }

 private:
  std::size_t count_max_;
  std::size_t bytes_max_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace canopy
