#include "sim/codec_pass.hpp"

#include "base/assert.hpp"
#include "wire/codec.hpp"

namespace canopy::sim {

std::optional<wire::Message> through_codec(const wire::Message& message, PeerTable& peers) {
  wire::SendDictionary numbers;
  const auto frame = wire::encode(message, peers, numbers);
  if (!frame) return std::nullopt;
  wire::ReceiveDictionary groups;
  auto decoded = wire::decode(wire::view_of(*frame), peers, groups);
  // What one version of the codec has written it can read.
  CANOPY_ASSERT(decoded.has_value() && decoded->has_value());
  return std::move(**decoded);
}

}  // namespace canopy::sim
