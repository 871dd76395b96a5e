// The frames in a stream of bytes from outside.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/frame.hpp"

namespace canopy::fuzz {

template <class Use>
void for_each_frame(const std::uint8_t* data, std::size_t size, Use use) {
  wire::FrameParser parser;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  while (!bytes.empty() && !parser.error()) {
    const auto room = parser.prepare();
    const std::size_t taken = std::min(room.size(), bytes.size());
    std::copy_n(bytes.begin(), taken, room.begin());
    parser.commit(taken);
    bytes.remove_prefix(taken);
    while (const auto frame = parser.next()) use(*frame);
  }
}

}  // namespace canopy::fuzz
