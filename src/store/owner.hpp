// Whose a data directory is. Log segments and the store carry it, so that files
// of different clusters or peers cannot be mixed up. A plain value.
#pragma once

#include "base/uuid.hpp"

namespace canopy::store {

struct Owner {
  Uuid cluster;
  Uuid node;  // drawn when the data directory is made
  friend bool operator==(const Owner&, const Owner&) noexcept = default;
};

}  // namespace canopy::store
