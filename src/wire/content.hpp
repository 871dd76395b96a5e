// A user's message: headers (key-value pairs) and a payload, as one Buffer.
//
// It is encoded once by the publisher; peers on the way carry the bytes without
// looking into them, and decoding slices the payload out without a copy. This
// is the `body` of Publish, Multicast, Anycast and Reply.
//
//     u8 format = 1 | u8 pairs | pairs * (u8 key size | key | u16 value size | value) | payload
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/system/result.hpp>

#include "base/buffer.hpp"

namespace canopy::wire {

// In the order in which they were set; keys of 1 to 255 bytes, may repeat.
using Headers = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::size_t max_content_headers = 64;
inline constexpr std::size_t max_content_header_bytes = std::size_t{64} << 10;  // keys and values
inline constexpr std::size_t default_max_payload = std::size_t{1} << 20;

struct Content {
  Headers headers;
  Buffer payload;

  friend bool operator==(const Content&, const Content&) = default;
};

// Errors: too_large (payload, or headers in number or size), bad_name (a key).
boost::system::result<Buffer> encode_content(const Headers& headers, std::string_view payload,
                                             std::size_t max_payload = default_max_payload);

// Errors: version (a later format), protocol (malformed), too_large.
boost::system::result<Content> decode_content(const Buffer& bytes,
                                              std::size_t max_payload = default_max_payload);

}  // namespace canopy::wire
