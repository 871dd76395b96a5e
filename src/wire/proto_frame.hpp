// Frames whose header is a Protobuf message, without a Protobuf header here:
// the source file that has the generated class instantiates these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "wire/frame.hpp"

namespace canopy::wire {

// The message's encoding must not be larger than max_header.
template <class Proto>
EncodedFrame frame_of(std::uint8_t kind, const Proto& header, Buffer body = {}) {
  EncodedFrame frame = make_frame(kind, header.ByteSizeLong(), std::move(body));
  header.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(header_of(frame)));
  return frame;
}

template <class Proto>
bool parse_header(const Frame& frame, Proto& to) {
  return to.ParseFromArray(frame.header.data(), static_cast<int>(frame.header.size()));
}

}  // namespace canopy::wire
