// Requests and answers of the control socket, from the other end.
#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "frames.hpp"
#include "wire/control_codec.hpp"

namespace {

namespace control = canopy::wire::control;

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
  canopy::fuzz::for_each_frame(data, size, [](const canopy::wire::Frame& frame) {
    say_again(control::decode_request(frame));
    say_again(control::decode_answer(frame));
  });
  return 0;
}
