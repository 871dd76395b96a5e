// What the network layer counts, for status and metrics.
//
// Totals since the start unless a line says otherwise. Written by the overlay's
// thread only; others get copies.
#pragma once

#include <cstdint>

namespace canopy::net {

// Traffic of all streams that share it.
struct StreamCounters {
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t writes = 0;     // system calls that wrote something
  std::uint64_t malformed = 0;  // streams closed for bytes that made no sense
  std::uint64_t truncated = 0;  // streams that ended in the middle of a frame
};

}  // namespace canopy::net
