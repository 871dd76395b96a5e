// A frame as it goes onto the wire.
#pragma once

#include <string>

#include "wire/frame.hpp"

namespace canopy::wire::testing {

inline std::string bytes_of(const EncodedFrame& frame) {
  return frame.head + std::string(frame.body.view());
}

}  // namespace canopy::wire::testing
