// What a peer may send over a link.
#include "base/assert.hpp"
#include "frames.hpp"
#include "wire/codec.hpp"
#include "wire/hello.hpp"

using namespace canopy::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  canopy::PeerTable peers;
  ReceiveDictionary received;
  SendDictionary sent;
  canopy::fuzz::for_each_frame(data, size, [&](const Frame& frame) {
    if (const auto hello = decode_hello(frame)) {
      CANOPY_ASSERT(decode_hello(view_of(encode(*hello))).value() == *hello);
    }
    if (const auto refusal = decode_hello_reject(frame)) {
      CANOPY_ASSERT(decode_hello_reject(view_of(encode(*refusal))).value() == *refusal);
    }
    const auto message = decode(frame, peers, received);
    if (!message || !message->has_value()) return;
    // What was understood can be passed on, and is understood there.
    const auto again = encode(**message, peers, sent);
    CANOPY_ASSERT(again);
  });
  return 0;
}
