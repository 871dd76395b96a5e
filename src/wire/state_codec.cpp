#include "wire/state_codec.hpp"

#include "base/assert.hpp"
#include "overlay.pb.h"
#include "wire/codec_state.hpp"

namespace canopy::wire {

std::string encode_state(const GroupState& state) {
  const PeerTable nobody;
  detail::Writer writer(nobody, nullptr);
  overlay::GroupState proto;
  writer.put(&proto, state);
  CANOPY_ASSERT(!writer.error());
  return proto.SerializeAsString();
}

Decoded<GroupState> decode_state(std::string_view bytes) {
  overlay::GroupState proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Malformed{errc::protocol, "it is not valid Protobuf"};
  }
  PeerTable nobody;
  detail::Reader reader(nobody, nullptr, {});
  GroupState state;
  reader.get(state, proto, "state");
  if (!reader.problem().empty()) return Malformed{errc::protocol, reader.problem()};
  if (reader.is_foreign()) return Malformed{errc::protocol, "it is of a later version"};
  return state;
}

}  // namespace canopy::wire
