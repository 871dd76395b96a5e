// Requests and answers of the control socket, from the other end.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "wire/control_codec.hpp"

namespace {

namespace control = canopy::wire::control;
using canopy::wire::FrameParser;

// What was understood can be said again, unless it lists more than a daemon
// would.
template <class Envelope>
void say_again(const canopy::wire::Decoded<Envelope>& decoded) {
  if (!decoded) return;
  const auto again = control::encode(*decoded);
  CANOPY_ASSERT(again || again.error() == canopy::errc::too_large);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FrameParser parser;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  while (!bytes.empty() && !parser.error()) {
    const auto room = parser.prepare();
    const std::size_t taken = std::min(room.size(), bytes.size());
    std::copy_n(bytes.begin(), taken, room.begin());
    parser.commit(taken);
    bytes.remove_prefix(taken);
    while (const auto frame = parser.next()) {
      say_again(control::decode_request(*frame));
      say_again(control::decode_answer(*frame));
    }
  }
  return 0;
}
