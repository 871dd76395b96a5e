// Between the control socket's messages and frames.
//
// Two kinds of frame: requests and answers. The header is Protobuf
// (proto/control.proto), with the request's id; the body is the content of a
// published or delivered message (content.hpp), or the JSON of a call to a queue;
// it is shared, not copied.
// Functions without state.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/control_messages.hpp"
#include "wire/frame.hpp"

namespace canopy::wire::control {

inline constexpr std::uint8_t request_kind = frame_kind::first_control;
inline constexpr std::uint8_t answer_kind = frame_kind::first_control + 1;

struct RequestEnvelope {
  std::uint64_t id = 0;
  Request request;
};

struct AnswerEnvelope {
  std::uint64_t id = 0;
  bool more = false;  // further parts of the same answer follow
  Answer answer;
};

// Fails with bad_name for the content's header keys, and with too_large for
// content, JSON, or lists that are longer than a page.
boost::system::result<EncodedFrame> encode(const RequestEnvelope& envelope);
boost::system::result<EncodedFrame> encode(const AnswerEnvelope& envelope);

// Malformed: the other side does not speak this protocol. Values are taken as
// they come (names are checked by whom they are for).
Decoded<RequestEnvelope> decode_request(const Frame& frame);
Decoded<AnswerEnvelope> decode_answer(const Frame& frame);

}  // namespace canopy::wire::control
