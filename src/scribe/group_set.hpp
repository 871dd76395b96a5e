// A set of groups as an order-independent hash and a count: what a heartbeat
// says about the groups that two neighbours share. Plain value.
#pragma once

#include <cstdint>

#include "base/id.hpp"
#include "scribe/mix.hpp"

namespace canopy::scribe {

struct GroupSet {
  std::uint64_t hash = 0;  // sum of the members' mixed ids
  std::uint32_t count = 0;

  void add(const Id& group) noexcept {
    hash += mix64(group.high64());
    ++count;
  }
  void remove(const Id& group) noexcept {
    hash -= mix64(group.high64());
    --count;
  }
  bool empty() const noexcept { return count == 0; }

  friend bool operator==(const GroupSet&, const GroupSet&) = default;
};

}  // namespace canopy::scribe
