// Two Presence events as one, for a subscriber that has not taken the first.
#pragma once

#include <canopy/message.hpp>

namespace canopy::node {

// Who came and has gone since, or the other way round, is not named.
void merge(Presence& first, const Presence& later);

}  // namespace canopy::node
