// Who appears in the tests of this layer's parts, and when they begin.
#pragma once

#include <chrono>

#include "base/peer.hpp"
#include "base/time.hpp"

namespace canopy::scribe {

inline constexpr MonoTime start{std::chrono::hours(1)};
inline const PeerRef ann{1};
inline const PeerRef bob{2};
inline const PeerRef cid{3};

}  // namespace canopy::scribe
